import mermaidUrl from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
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
  await loadMermaid()
  const { mermaid } = globalThis
  for (const block of blocks) {
    block.dataset.source ??= block.textContent
    block.textContent = block.dataset.source
    delete block.dataset.processed
  }
  mermaid.initialize({ startOnLoad: false, deterministicIds: true, theme: dark ? 'dark' : 'neutral' })
  await mermaid.run({ nodes: blocks })
}

/** @type {Promise<void> | undefined} */
let loading

/** A script that sets a global. As a module, the build would spend half its time on it. */
function loadMermaid() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    Object.assign(script, { src: mermaidUrl, onload: () => resolve(), onerror: reject })
    document.head.append(script)
  })
  return loading
}
