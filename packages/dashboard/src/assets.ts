import { ASSETS } from './assets.generated.ts'

/** The answer to a path that is no route: its file, or the page itself, whose routes are the browser's. */
export async function pageResponse(path: string, basePath: string, request: Request): Promise<Response> {
  const name = path.replace(/^\//, '')
  if (name !== 'index.html' && Object.hasOwn(ASSETS, name)) return fileResponse(name, request)
  const { type, body } = ASSETS['index.html']!
  return new Response(basedPage(body, escaped(`${basePath}/`)), { headers: { 'content-type': type } })
}

/** Its name carries a hash of its content: a browser that has it need not ask again. */
async function fileResponse(name: string, { headers }: Request): Promise<Response> {
  const { type, body } = ASSETS[name]!
  const kept = {
    'content-type': type,
    'cache-control': 'private, max-age=31536000, immutable',
    vary: 'accept-encoding',
  }
  // Not every runtime can compress.
  const isPacked = 'CompressionStream' in globalThis && /\bgzip\b/.test(headers.get('accept-encoding') ?? '')
  if (!isPacked) return new Response(body, { headers: kept })
  const packed = gzipped.get(name) ?? gzip(body)
  gzipped.set(name, packed)
  return new Response(await packed, { headers: { ...kept, 'content-encoding': 'gzip' } })
}

const gzipped = new Map<string, Promise<Blob>>()

function gzip(text: string): Promise<Blob> {
  return new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).blob()
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
