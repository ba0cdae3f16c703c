/** Whether a value is a promise, or anything else that `await` waits for. Reading `then` may throw, as any getter. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
  return typeof (value as { then?: unknown }).then === 'function'
}

/**
 * For what a function of the user returned, where nobody awaits it: if it is a promise that rejects, `onRejected` gets the reason. Otherwise the rejection
 * would end the process. Never throws.
 */
export function watchAnswer(answer: unknown, onRejected: (error: unknown) => void = ignore): void {
  try {
    if (isThenable(answer)) Promise.resolve(answer).then(undefined, onRejected)
  } catch (error) {
    onRejected(error)
  }
}

function ignore(): void {}
