const [FRESH, MEMORY] = ['fresh', 'memory'] as const

/** Opens the page again with a new database. The threads of this one end with it, whatever state they are in. */
export function startAfresh(): void {
  again(FRESH)
}

/** Opens the page again with a database that ends with it. */
export function goOnInMemory(): void {
  again(MEMORY)
}

function again(how: string): void {
  const url = new URL(location.href)
  url.searchParams.set(how, '')
  // Another fragment alone would not load the page.
  location.assign(url)
}

/** Which database was asked for. A new one is asked for once: a reload keeps what there is. */
export function askedDatabase(): { readonly fresh: boolean; readonly inMemory: boolean } {
  const url = new URL(location.href)
  const [fresh, inMemory] = [url.searchParams.has(FRESH), url.searchParams.has(MEMORY)]
  url.searchParams.delete(FRESH)
  if (fresh) history.replaceState(null, '', url)
  return { fresh, inMemory }
}
