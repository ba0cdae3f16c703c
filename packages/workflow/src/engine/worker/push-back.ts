import type { Adapter, LimitLine } from '../../adapter/index.ts'
import { RetryLaterError } from '../../handler-errors.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

interface PushBackParts {
  readonly adapter: Adapter
  readonly log: Logger
}

/**
 * Pushes limits back if the handler threw `RetryLaterError` with `limit`. Resolves before the slot of the attempt is freed: else the next one of the
 * key would begin. Undefined if there is nothing to push back. Remembers what the attempt enters.
 */
export function pushBack(parts: PushBackParts, attempt: Attempt, end: AttemptEnd): Promise<void> | undefined {
  if (end.type === 'enters') attempt.entered = end.entries
  if (end.type !== 'threw' || !RetryLaterError.is(end.error)) return undefined
  const { limit, afterMs } = end.error
  if (limit === undefined) return undefined
  const lines = linesOf(attempt, limit)
  return lines.length === 0 ? undefined : push(parts, attempt, { lines, afterMs })
}

function linesOf({ entered }: Attempt, limit: string | true): readonly LimitLine[] {
  const mine = entered.filter((entry) => limit === true || entry.limit === limit)
  // A compensation has entered nothing, and does not know a key.
  if (mine.length === 0 && limit !== true) return [{ limit, key: '' }]
  return mine.map(({ limit: name, key }) => ({ limit: name, key }))
}

/** If the store cannot be asked, only the step itself waits. */
async function push(
  { adapter, log }: PushBackParts,
  { claim, step }: Attempt,
  pushed: Parameters<Adapter['pushBackLimits']>[0],
): Promise<void> {
  try {
    await adapter.pushBackLimits(pushed)
  } catch (error) {
    const fields = { runId: claim.runId, step: step.name, error }
    log.warn('A limit could not be pushed back; only the step that asked for it waits.', fields)
  }
}
