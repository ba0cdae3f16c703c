import type { Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Records that steps run, as their definitions decided, before their handlers begin. Guarantee: an attempt that no longer holds its step changes
 * nothing; one that does goes on, so recording its decision twice is harmless. Index: primary key. Locks: own steps by (run, step).
 */
export const decideAttempts: Statement<{ readonly position: number }> = {
  name: 'decide_attempts',
  text: `
with ${boundedLockWait('$6')},
decided_attempts as materialized (
  select a.run_id, a.step, a.fence, a.branch, a.position, $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::text[]) with ordinality as a (run_id, step, fence, branch, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
)
update belay.workflow_steps s
set branch = a.branch::json
from decided_attempts a
where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
  and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
returning a.position::int as position`,
}

export type DecidedOutcome = Extract<Outcome, { type: 'decided' }>

/** Returns the indexes of the recorded outcomes. Of an attempt that is there twice, the last decision counts, and both are recorded. */
export async function decide(
  connection: Connection,
  { workerId, outcomes }: { workerId: string; outcomes: readonly DecidedOutcome[] },
): Promise<readonly number[]> {
  // An update applies only one match to each row.
  const latest = [...new Map(outcomes.map((outcome) => [attemptOf(outcome), outcome])).values()]
  const rows = await connection.query(decideAttempts, [
    workerId,
    latest.map((outcome) => outcome.runId),
    latest.map((outcome) => outcome.step),
    latest.map((outcome) => outcome.fence),
    latest.map((outcome) => outcome.branch),
    sharedLockWait,
  ])
  const recorded = new Set(rows.map((row) => attemptOf(latest[row.position - 1]!)))
  return outcomes.flatMap((outcome, index) => (recorded.has(attemptOf(outcome)) ? [index] : []))
}

function attemptOf({ runId, step, fence }: DecidedOutcome): string {
  return `${runId}/${step}/${fence}`
}
