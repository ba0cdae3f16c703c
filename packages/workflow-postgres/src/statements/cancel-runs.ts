import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { isUuid } from '../uuid.ts'

/**
 * Stops runs with a cancellation, and cancels what has not started in them. Guarantee: both commit together; a run that is stopping or at
 * an end stays as it is. Index: primary keys. Locks: steps, then runs, each by (run, step).
 */
export const cancelRunsStatement: Statement<{ readonly run_id: string }> = {
  name: 'cancel_runs',
  text: `
with asked_runs as materialized (
  select r.id, array['pending', 'ready', 'waiting'] as open_statuses
  from belay.workflow_runs r
  where r.id = any ($1::uuid[]) and r.status in ('scheduled', 'running', 'waiting', 'paused')
  order by r.id
),
locked_steps as materialized (
  select s.run_id, s.step
  from asked_runs
  join belay.workflow_steps s on s.run_id = any (array[asked_runs.id])
  where s.status = any (asked_runs.open_statuses)
  order by s.run_id, s.step
  for update of s
),
cancelled_steps as (
  update belay.workflow_steps s
  set status = 'cancelled'
  from locked_steps l
  where s.run_id = any (array[l.run_id]) and s.step = any (array[l.step])
  returning 1
)
update belay.workflow_runs r
set status = 'compensating', stop = 'cancellation', cause = $2::text::json
from (
  select asked_runs.id
  from asked_runs
  -- Makes the runs the last to be locked.
  cross join (select count(*) from cancelled_steps) as steps_were_locked
  order by asked_runs.id
) asked
where r.id = any (array[asked.id]) and r.status in ('scheduled', 'running', 'waiting', 'paused')
returning r.id as run_id`,
}

export async function cancelRuns(
  connection: Connection,
  request: { readonly runIds: readonly string[]; readonly cause: string },
): Promise<readonly string[]> {
  const runIds = request.runIds.filter(isUuid)
  if (runIds.length === 0) return []
  const rows = await connection.query(cancelRunsStatement, [runIds, request.cause])
  return rows.map((row) => row.run_id)
}
