const FRESH = 'fresh'

/** Opens the page again with a new database. The threads of this one end with it, whatever state they are in. */
export function startAfresh(): void {
  const url = new URL(location.href)
  url.searchParams.set(FRESH, '')
  location.assign(url)
}

/** Whether a new database was asked for. It is asked for once: a reload keeps what there is. */
export function isFreshAsked(): boolean {
  const url = new URL(location.href)
  if (!url.searchParams.has(FRESH)) return false
  url.searchParams.delete(FRESH)
  history.replaceState(null, '', url)
  return true
}
