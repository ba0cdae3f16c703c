import type { Adapter } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { isUuid } from '../uuid.ts'

/**
 * Stops runs with a cancellation, cancels what has not started in them, and notes it in their history. Guarantee: all of it commits
 * together; a run that is stopping or at an end stays as it is. Index: primary keys. Locks: steps, then runs, each by (run, step).
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
  order by asked_runs.id, s.step
  for update of s
),
cancelled_steps as (
  update belay.workflow_steps s
  set status = 'cancelled'
  from locked_steps l
  where s.run_id = any (array[l.run_id]) and s.step = any (array[l.step])
  returning 1
),
stopped_runs as (
  update belay.workflow_runs r
  set status = 'compensating', stop = $3::text, cause = $2::text::json
  from (
    select asked_runs.id
    from asked_runs
    -- Makes the runs the last to be locked.
    cross join (select count(*) from cancelled_steps) as steps_were_locked
    order by asked_runs.id
  ) asked
  where r.id = any (array[asked.id]) and r.status in ('scheduled', 'running', 'waiting', 'paused')
  returning r.id
),
noted_runs as (
  insert into belay.workflow_history (run_id, at, action, actor, reason, change)
  select s.id, belay.store_now(), 'cancel', $4::text, $5::text, $6::text::json
  from stopped_runs s
)
select id as run_id from stopped_runs`,
}

export async function cancelRuns(
  connection: Connection,
  request: Parameters<Adapter['cancelRuns']>[0],
): Promise<readonly string[]> {
  const { cause, stop = 'cancellation', by } = request
  const runIds = request.runIds.filter(isUuid)
  if (runIds.length === 0) return []
  const change = JSON.stringify({ compensate: stop === 'cancellation' })
  const values = [runIds, cause, stop, by?.actor ?? null, by?.reason ?? null, change]
  const rows = await connection.query(cancelRunsStatement, values)
  return rows.map((row) => row.run_id)
}
