import { useData, useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { nextTick, onMounted, watch } from 'vue'
import './style.css'

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute()
    const { isDark } = useData()
    onMounted(() => drawDiagrams(isDark.value))
    watch([() => route.path, isDark], async () => {
      await nextTick()
      await drawDiagrams(isDark.value)
    })
  },
}

/**
 * Draws the page's Mermaid blocks. The library is only loaded for a page that has some.
 * @param {boolean} dark
 */
async function drawDiagrams(dark) {
  const blocks = [...document.querySelectorAll('pre.mermaid')]
  if (blocks.length === 0) return
  const { default: mermaid } = await import('@mermaid-js/tiny')
  for (const block of blocks) {
    block.dataset.source ??= block.textContent
    block.textContent = block.dataset.source
    delete block.dataset.processed
  }
  mermaid.initialize({ startOnLoad: false, theme: dark ? 'dark' : 'neutral' })
  await mermaid.run({ nodes: blocks })
}
