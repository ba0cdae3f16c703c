/** Whether a value is a promise, or anything else that `await` waits for. Reading `then` may throw, as any getter. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/**
 * For what a function of the user returned, where nobody awaits it: if it is a promise that rejects, `onRejected` gets the reason. Otherwise the rejection
 * would end the process. Never throws. Returns a promise for its end, which never rejects, if there is something to wait for.
 */
export function watchAnswer(
  answer: unknown,
  onRejected: (error: unknown) => void = ignore,
): Promise<void> | undefined {
  try {
    if (isThenable(answer)) return Promise.resolve(answer).then(ignore, onRejected)
  } catch (error) {
    onRejected(error)
  }
  return undefined
}

function ignore(): void {}
