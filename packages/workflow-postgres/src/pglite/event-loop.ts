/** For how long calls may follow each other without a turn of the event loop, in milliseconds. */
const UNTURNED_MS_MAX = 10

let turn: { readonly began: number; readonly over: Promise<void> } | undefined

/**
 * Waits for the next turn of the event loop if there was none for too long. PGlite answers without one, so a loop of awaited calls would keep timers,
 * and with them every worker in this process, from ever running. Called before a statement, never in a transaction.
 */
export async function turnOfEventLoop(): Promise<void> {
  turn ??= { began: performance.now(), over: nextTurn() }
  if (performance.now() - turn.began > UNTURNED_MS_MAX) await turn.over
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      turn = undefined
      resolve()
    }
    // Browsers have no setImmediate, and their timers come at most every few milliseconds.
    if (typeof setImmediate === 'function') setImmediate(over)
    else setTimeout(over)
  })
}
