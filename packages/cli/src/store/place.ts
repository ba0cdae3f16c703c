/** A URL, and where it is from. */
export interface Source {
  readonly url: string
  readonly from: string
}

/** Where a store is, without user and password: `shop at db.internal:5432`, or `the directory ./data`. */
export function placeOf(url: string): string {
  if (url.startsWith('pglite:')) return `the directory ${url.slice('pglite:'.length)}`
  try {
    const { hostname, port, pathname, searchParams } = new URL(url)
    const host = searchParams.get('host') ?? (hostname || 'localhost')
    return `${decodeURIComponent(pathname.slice(1)) || 'the default database'} at ${host}:${port || '5432'}`
  } catch {
    return 'a URL that cannot be read'
  }
}
