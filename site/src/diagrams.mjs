/** @typedef {(tokens: { info: string, content: string }[], index: number, options: object, env: object, renderer: object) => string} Rule */

/**
 * Turns Mermaid blocks, which GitHub draws, into elements that the theme draws in the browser. Search finds the words in them.
 * @param {{ renderer: { rules: { fence?: Rule | undefined } }, utils: { escapeHtml(text: string): string } }} markdown
 */
export function diagrams(markdown) {
  const fence = markdown.renderer.rules.fence
  if (fence === undefined) throw new Error('This Markdown renderer has no rule for code blocks.')
  markdown.renderer.rules.fence = (tokens, index, options, env, renderer) => {
    const token = tokens[index]
    if (token?.info.trim() !== 'mermaid') return fence(tokens, index, options, env, renderer)
    return `<pre class="mermaid" v-pre>${markdown.utils.escapeHtml(token.content)}</pre>\n`
  }
}
