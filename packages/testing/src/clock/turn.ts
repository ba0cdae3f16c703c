// Taken when the module loads, so that a test framework's fake timers cannot stop virtual time.
const realSetTimeout = globalThis.setTimeout
const realClearTimeout = globalThis.clearTimeout
const realNow = globalThis.performance.now.bind(globalThis.performance)
const realSetImmediate: ((run: () => void) => unknown) | undefined = globalThis.setImmediate

// One turn empties the microtask queue. A few more run code that waits for a turn of its own.
const TURNS = 3

/** Lets all code run that can run without time passing: promise chains, and short hops through the event loop. */
export async function settleTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn()
}

// Long enough to read a small file, short enough for thousands of leaps in a test.
const REAL_WORK_MS = 2
// Also on a machine that is so busy that a turn takes as long.
const REAL_WORK_TURNS = 100

/** Lets real I/O proceed for a moment, or until `isDone`. */
export async function letRealWorkEnd(isDone: () => boolean): Promise<void> {
  const startedAt = realNow()
  for (let turn = 0; !isDone() && (turn < REAL_WORK_TURNS || realNow() - startedAt < REAL_WORK_MS); turn += 1)
    await nextTurn()
}

/** Milliseconds of real time since an arbitrary start. */
export function realMs(): number {
  return realNow()
}

/** Resolves after `ms` milliseconds of real time. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms))
}

/** Calls `fire` after `ms` milliseconds of real time. Returns a function that cancels this. */
export function afterRealTime(ms: number, fire: () => void): () => void {
  const timer = realSetTimeout(fire, ms)
  return () => realClearTimeout(timer)
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (realSetImmediate === undefined) realSetTimeout(resolve, 0)
    else realSetImmediate(resolve)
  })
}
