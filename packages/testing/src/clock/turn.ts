// Taken when the module loads, so that a test framework's fake timers cannot stop virtual time.
const realSetTimeout = globalThis.setTimeout
const realSetImmediate: ((run: () => void) => unknown) | undefined = globalThis.setImmediate

// One turn empties the microtask queue. A few more run code that waits for a turn of its own.
const TURNS = 3

/** Lets all code run that can run without time passing: promise chains, and short hops through the event loop. */
export async function settleTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn()
}

/** Resolves after `ms` milliseconds of real time. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms))
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (realSetImmediate === undefined) realSetTimeout(resolve, 0)
    else realSetImmediate(resolve)
  })
}
