/** A URL, and where it is from. */
export interface Source {
  readonly url: string
  readonly from: string
}

/** Where a store is, without user and password: `shop at db.internal:5432`, or `the directory ./data`. */
export function placeOf(url: string): string {
  if (url.startsWith('pglite:')) return `the directory ${url.slice('pglite:'.length)}`
  try {
    const { hostname, port, pathname, search, hash, searchParams } = new URL(url)
    // A slash, ? or # in a password that is not encoded ends the host too early: then what seems to follow the host is of the password.
    if (`${pathname}${hash}${search.split('=')[0]}`.includes('@')) return UNREADABLE
    const host = searchParams.get('host') ?? (hostname || 'localhost')
    return `${decodeURIComponent(pathname.slice(1)) || 'the default database'} at ${host}:${port || '5432'}`
  } catch {
    return UNREADABLE
  }
}

const UNREADABLE = 'a URL that cannot be read'

/** A URL without its password, before the host or in `?password=`. The password may hold any character, also a slash or an @; another text stays. */
export function withoutPassword(text: string): string {
  const [, scheme, rest = ''] = /^(\w+:\/\/)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return text
  const at = rest.lastIndexOf('@')
  const colon = rest.slice(0, Math.max(at, 0)).indexOf(':')
  const shown = colon < 0 ? rest : `${rest.slice(0, colon)}:…${rest.slice(at)}`
  return `${scheme}${shown.replaceAll(/([?&]\w*password=)[^&]*/gi, '$1…')}`
}
