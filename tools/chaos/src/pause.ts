/** Resolves after this many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Whether the promise settled in time. It continues afterwards; a rejection counts as settled. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const settled = promise.then(
    () => true,
    () => true,
  )
  return Promise.race([settled, late]).finally(() => clearTimeout(timer))
}

/** Polls until the answer is true, or the time is over. */
export async function until(
  ms: number,
  everyMs: number,
  ask: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + ms
  for (;;) {
    if (await ask()) return true
    if (performance.now() > end) return false
    await pause(everyMs)
  }
}

/** Repeats until it succeeds, whatever else goes on: what a fault has changed must not stay. */
export async function untilDone(change: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await change()
      return
    } catch (error) {
      if (tries === 50) throw error
      await pause(200)
    }
  }
}
