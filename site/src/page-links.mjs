import { existsSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { isPage, publishedPath } from './pages.mjs'

// Where the repository can be browsed, such as https://example.com/belay/blob/main/. Without it, links to source files are shown as text.
const source = process.env['SITE_SOURCE']

/**
 * What is used of a token of markdown-it.
 * @typedef {{
 *   type: string, tag: string, nesting: number, content: string, children: Token[] | null,
 *   attrGet(name: string): string | null, attrSet(name: string, value: string): void
 * }} Token
 */

/**
 * Makes the links of the repository's Markdown work on the site: a page keeps its link, also if it is published under another path; any other
 * file is linked where the repository can be browsed. A file that does not exist fails the build.
 * @param {{ core: { ruler: { push(name: string, rule: (state: { tokens: Token[], env: { path: string, realPath?: string } }) => void): void } } }} markdown
 * @param {{ root: string }} options
 */
export function pageLinks(markdown, { root }) {
  markdown.core.ruler.push('page-links', ({ tokens, env }) => {
    const page = relative(root, env.realPath ?? env.path)
    for (const token of tokens) {
      if (token.type === 'html_block' && token.content.startsWith('<!--')) token.content = ''
      if (token.children !== null) mapLinks(token.children, (target) => resolveLink(root, page, target))
    }
  })
}

/**
 * @param {Token[]} tokens
 * @param {(target: string) => string | undefined} resolve
 */
function mapLinks(tokens, resolve) {
  let unlinked = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const target = resolve(token.attrGet('href') ?? '')
      unlinked = target === undefined
      if (target !== undefined) token.attrSet('href', target)
    }
    if (unlinked && (token.type === 'link_open' || token.type === 'link_close')) {
      unlinked = token.type === 'link_open'
      Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
    }
  }
}

/**
 * @param {string} root
 * @param {string} page
 * @param {string} target
 * @returns {string | undefined} nothing if there is no place to link to
 */
export function resolveLink(root, page, target) {
  if (/^([a-z]+:|#|\/)/i.test(target)) return target
  const [path = '', anchor] = target.split('#')
  const file = normalize(join(dirname(page), decodeURI(path)))
  if (!isPage(page)) return target
  if (!existsSync(join(root, file))) throw new Error(`${page} links to ${target}, which does not exist.`)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (isPage(file)) return `${relativeUrl(publishedPath(page), publishedPath(file))}${hash}`
  return source === undefined ? undefined : `${source}${file}${hash}`
}

/**
 * @param {string} from
 * @param {string} to
 */
function relativeUrl(from, to) {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}
