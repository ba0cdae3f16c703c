import type { Clock } from '../../clock.ts'
import { durationText } from '../../duration.ts'
import { BelayError, type ErrorContext } from '../../errors.ts'
import { isThenable } from '../../thenable.ts'

/**
 * How long a function of the user may take to answer, in milliseconds, where no `timeout` of its step holds: schemas, `when`, `over`, `until`, keys and
 * the like. A function that never returns, because it loops, cannot be stopped: it blocks its process.
 */
export const ANSWER_MS = 30_000

/**
 * Calls a function of the user. A promise that it returns is awaited for `limitMs` at most; any other answer is returned as it is, without a promise. The
 * caller checks what the answer is.
 *
 * @throws whatever the function throws; BelayError `function_timeout`.
 */
export function answerOf<Answer>(
  clock: Clock,
  what: string,
  call: () => Answer | PromiseLike<Answer>,
  limitMs: number = ANSWER_MS,
): Answer | Promise<Answer> {
  const answer = call()
  if (!isThenable(answer)) return answer
  return new Promise((resolve, reject) => {
    const timer = clock.after(limitMs, () => reject(noAnswer(what, limitMs)))
    const end =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        timer.cancel()
        settle(value)
      }
    // Not the promise's own `then`, which may be user code.
    Promise.resolve(answer).then(end(resolve), end(reject))
  })
}

export function noAnswer(what: string, limitMs: number, where?: ErrorContext): BelayError {
  return new BelayError(
    'function_timeout',
    `${what} did not answer within ${durationText(limitMs)}, and is not waited for any longer. Give what it waits for a time limit of its own, or move slow work into a step, which has a \`timeout\`.`,
    where,
  )
}

/** Whether a function of the user did not answer in time. */
export function isUnanswered(error: unknown): error is BelayError {
  return BelayError.is(error) && error.code === 'function_timeout'
}
