/** A sentence if this browser lacks what the playground needs; undefined if it has all. Storage may be missing: then the database is in memory. */
export function missing(): string | undefined {
  const needs: Readonly<Record<string, boolean>> = {
    'a secure address (https, or localhost)': isSecureContext,
    WebAssembly: 'WebAssembly' in globalThis,
    'Web Workers': 'Worker' in globalThis,
    'Web Locks': 'locks' in navigator,
    'decompression streams': 'DecompressionStream' in globalThis,
  }
  const absent = Object.keys(needs).filter((need) => !needs[need])
  if (absent.length === 0) return undefined
  return `The playground needs ${absent.join(', ')}, and this browser does not offer that here: open it in a current Chrome, Firefox or Safari.`
}

/** Keeps the files for the next visit. Without it the page works as well, but needs the network. */
export function keepFiles(): void {
  navigator.serviceWorker?.register('sw.js').catch(() => {})
}
