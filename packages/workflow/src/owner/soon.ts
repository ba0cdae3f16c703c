/** In the next turn of the event loop. Browsers have no `setImmediate`. */
export function soon(act: () => void): void {
  const { setImmediate } = globalThis as { readonly setImmediate?: (fire: () => void) => void }
  if (setImmediate === undefined) setTimeout(act)
  else setImmediate(act)
}
