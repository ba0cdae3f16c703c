/** For how long calls may follow each other without a turn of the event loop, in milliseconds. */
const UNTURNED_MS_MAX = 10

let turn: { readonly began: number; readonly over: Promise<void> } | undefined

/**
 * Waits for the next turn of the event loop if there was none for too long. A store inside the process answers without one, so a loop of awaited calls
 * would keep timers, and with them every worker in this process, from ever running. For the adapters of such stores, before each call.
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
    const { setImmediate } = globalThis as { readonly setImmediate?: (fire: () => void) => void }
    if (setImmediate === undefined) setTimeout(over)
    else setImmediate(over)
  })
}
