import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Fails if a link of the built site leads to a page or a heading that is not there. VitePress itself checks pages, but no headings.
 * @param {string} folder
 * @param {string} base
 */
export function checkLinks(folder, base) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  )
  const pages = new Map(
    files.map((file) => [urlOf(file, base), readPage(readFileSync(join(folder, file), 'utf8'))]),
  )
  const problems = new Set(
    [...pages].flatMap(([url, { links }]) =>
      [...new Set(links)].flatMap((link) => problemsOf(pages, url, link)),
    ),
  )
  if (problems.size > 0) throw new Error(`${problems.size} dead links:\n${[...problems].join('\n')}`)
  const count = [...pages.values()].reduce((sum, { links }) => sum + links.length, 0)
  if (count === 0) throw new Error(`No links were found in ${folder}: nothing was checked.`)
  console.log(`${count} links on ${pages.size} pages lead to a page and a heading that exist.`)
}

/**
 * @param {string} file
 * @param {string} base
 */
function urlOf(file, base) {
  return (
    base +
    file
      .replaceAll('\\', '/')
      .replace(/(^|\/)index\.html$/, '$1')
      .replace(/\.html$/, '')
  )
}

/** @param {string} html */
function readPage(html) {
  const attributes = (/** @type {string} */ name) =>
    [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => value ?? '')
  return { links: attributes('href'), ids: new Set(attributes('id')) }
}

/**
 * @param {ReadonlyMap<string, { ids: ReadonlySet<string> }>} pages
 * @param {string} from
 * @param {string} link
 * @returns {readonly string[]}
 */
function problemsOf(pages, from, link) {
  const url = new URL(link.replaceAll('&amp;', '&'), `http://site${from}`)
  if (url.host !== 'site' || /\.(css|js|woff2|svg|ico|png)$/.test(url.pathname)) return []
  const page = pages.get(url.pathname)
  if (page === undefined) return [`${from}: ${link} leads to no page.`]
  const id = decodeURIComponent(url.hash.slice(1))
  return id === '' || page.ids.has(id) ? [] : [`${from}: ${link} leads to no heading.`]
}
