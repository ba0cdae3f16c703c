import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { finishText, type Recording } from './finish-attempts.ts'
import { FAILURES } from './finish-walks.ts'
import { decodeFinished, type Finished, type FinishedRow } from './finished-rows.ts'

const ERRORS: Recording = {
  values: ', $11::text[], $12::bool[]',
  names: ', error, succeeded',
  columns: ', a.error, a.succeeded',
  // Of a rejected approval, the output is its decision.
  keepsOutput: 'true',
  set: `,
    error = a.error::json, begun = true, succeeded = case when a.succeeded then true else s.succeeded end`,
}

/**
 * Records attempts that failed for good in runs that continue, with the guarantees, indexes and locks of `finishAttempts`: a failed step counts like a
 * completed one. Apart, so that other batches do not carry errors. The walk is that of items, which is also right for steps.
 */
export const continueAttempts: Statement<FinishedRow> = {
  name: 'continue_attempts',
  text: finishText({ keeping: NOT_KEPT, walk: FAILURES, recording: ERRORS }),
}

/** The same, and keeps the attempts. */
export const keptContinueAttempts: Statement<FinishedRow> = {
  name: 'continue_attempts_kept',
  text: finishText({
    keeping: {
      columns: `${keptColumns()}, a.error as kept_error`,
      rows: keptRows('settled_attempts', { ended: `'failed'`, error: 'e.kept_error' }),
    },
    walk: FAILURES,
    recording: ERRORS,
  }),
}

export type ContinuedOutcome = Extract<Outcome, { type: 'failed'; continues: true }>

export async function continueFailed(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly ContinuedOutcome[]; handBackMax: number },
): Promise<Finished> {
  const { workerId, outcomes, handBackMax } = request
  const rows = await connection.query(request.keepAttempts ? keptContinueAttempts : continueAttempts, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    [false],
    ['failed'],
    outcomes.map(() => null),
    handBackMax,
    sharedLockWait,
    outcomes.map((outcome) => outcome.error),
    outcomes.map((outcome) => outcome.succeeded === true),
  ])
  return decodeFinished(rows, outcomes.length)
}
