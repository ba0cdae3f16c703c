import type { Outcome } from '../../adapter/index.ts'
import type { LogFields, Logger } from '../../logger.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** The end of an attempt that failed. */
export type Failure = Extract<AttemptEnd, { readonly type: 'threw' | 'unstorable' }>

/** Tells the log of a failed attempt: with the value that was thrown, and so with its stack. */
export function logFailure(log: Logger, outcome: Outcome, fields: LogFields, failure: Failure): void {
  switch (outcome.type) {
    case 'retry': {
      // Its handler ended because it was told to.
      if (failure.type === 'threw' && failure.interrupted !== undefined) break
      const what = outcome.direction === 'undo' ? 'The undo of a step' : 'A step'
      log.warn(`${what} failed, and is tried again.`, { ...fields, delayMs: outcome.delayMs })
      break
    }
    case 'failed':
      if (outcome.continues) log.warn('A step failed for good. Its run goes on.', fields)
      else if (outcome.pivots !== undefined)
        log.error(
          'A step failed for good. Its run stops: it is undone, or parked if it has passed its pivot.',
          fields,
        )
      else log.error('A step failed for good. Its run stops, and is undone.', fields)
      break
    case 'compensation_failed':
      log.error('The undo of a step failed for good. Its run is parked until an operator acts.', fields)
      break
    default:
  }
}
