import { ASSETS } from './assets.generated.ts'

/** A file of the page. */
export interface Asset {
  readonly body: string
  readonly type: string
  readonly etag: string
}

const known = new Map<string, Asset>()

/** The file at a path below the base path, without a slash before it; undefined if the page has no such file. */
export function asset(path: string): Asset | undefined {
  if (!Object.hasOwn(ASSETS, path)) return undefined
  const seen = known.get(path)
  if (seen !== undefined) return seen
  const { type, body } = ASSETS[path]!
  const made: Asset = { body, type, etag: `"${hash(body)}"` }
  known.set(path, made)
  return made
}

/** FNV-1a: it tells versions of a file apart, and guards nothing. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return value.toString(16).padStart(8, '0')
}

/** The answer to a path that is no route: its file, or the page itself, whose routes are the browser's. */
export function pageResponse(path: string, basePath: string): Response {
  const name = path.replace(/^\//, '')
  const found = name === 'index.html' ? undefined : asset(name)
  const { body, type, etag } = found ?? asset('index.html')!
  const isPage = found === undefined
  const shown = isPage ? basedPage(body, escaped(`${basePath}/`)) : body
  return new Response(shown, { headers: { 'content-type': type, ...(isPage ? {} : { etag }) } })
}

/**
 * The page's own code reads `<base>`. Browsers ignore it, because the content security policy has `base-uri 'none'`: so what the page names relative to
 * itself is named from the root, or a page at a deeper address would not find its files.
 */
function basedPage(page: string, base: string): string {
  // Functions: `$&` in a replacement would be read as a pattern.
  return page
    .replaceAll('__BASE__', () => base)
    .replaceAll(/\b(src|href)="\.\//g, (_, name: string) => `${name}="${base}`)
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
