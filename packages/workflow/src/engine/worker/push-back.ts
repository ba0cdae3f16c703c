import type { LimitLine } from '../../adapter/index.ts'
import { RetryLaterError } from '../../handler-errors.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** The limits that the end of an attempt pushes back, because its handler threw `RetryLaterError` with `limit`. Undefined for none. */
export function pushedBack(
  { entered }: Pick<Attempt, 'entered'>,
  end: AttemptEnd,
): { readonly lines: readonly LimitLine[]; readonly afterMs: number } | undefined {
  if (end.type !== 'threw' || !RetryLaterError.is(end.error)) return undefined
  const { limit, afterMs } = end.error
  if (limit === undefined) return undefined
  const mine = entered.filter((entry) => limit === true || entry.limit === limit)
  // A compensation has entered nothing, and does not know a key.
  const lines = mine.length === 0 && limit !== true ? [{ limit, key: '' }] : mine
  return lines.length === 0
    ? undefined
    : { lines: lines.map(({ limit: name, key }) => ({ limit: name, key })), afterMs }
}

/** Tells that the store could not be asked: then only the step itself waits. */
export function notPushedBack(log: Logger, { claim, step }: Attempt, error: unknown): void {
  log.warn('A limit could not be pushed back; only the step that asked for it waits.', {
    runId: claim.runId,
    step: step.name,
    error,
  })
}
