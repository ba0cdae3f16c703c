import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { ends } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { isNotSought } from './sought-runs.ts'

/**
 * Deletes ended runs with all that belongs to them. Guarantee: it deletes a run entirely or not at all, and only if it ended before the given
 * instant; it never waits for a lock. Index: primary keys. Locks: the first step of each run, then the runs, both skipping locked ones. A caller that
 * sends an ended run forward again locks its steps, the first one first, and then the run.
 */
export const pruneEndedRuns: Statement<{ readonly run_id: string }> = {
  name: 'prune_ended_runs',
  text: `
with asked_runs as materialized (
  select run_id, timestamptz 'epoch' + $2::float8 * interval '1 millisecond' as ended_before,
    array[${ends}] as ends, 0 as first_step
  from unnest($1::uuid[]) as asked (run_id)
),
old_runs as materialized (
  select r.id, r.xmin as version, a.ended_before, a.ends, a.first_step
  from asked_runs a
  join belay.workflow_runs r on r.id = any (array[a.run_id])
  where r.finished_at < a.ended_before
    -- Something still has to follow from its end.
    and (r.reports_end is null or not exists (select from belay.workflow_run_ends e where e.run_id = any (array[r.id])))
    and ${isNotSought}
  order by a.run_id
),
locked_steps as materialized (
  select s.run_id, o.version, o.ended_before, o.ends
  from old_runs o
  join belay.workflow_steps s on s.run_id = any (array[o.id]) and ${stepIs('s', 'o.first_step')}
  order by o.id
  for update of s skip locked
),
ended_runs as materialized (
  select r.id, r.parent_run_id
  from locked_steps l
  join belay.workflow_runs r on r.id = any (array[l.run_id])
  -- Read again under the lock: the run may have been sent forward meanwhile, or moved to another definition, with rows that this statement does not
  -- see. A run that has changed is left to the next time.
  where r.xmin = any (array[l.version]) and r.finished_at < l.ended_before and r.status = any (l.ends)
  order by l.run_id
  for update of r skip locked
),
pruned_steps as (
  delete from belay.workflow_steps s using ended_runs e where s.run_id = any (array[e.id])
),
pruned_children as (
  delete from belay.workflow_children c using ended_runs e
  where c.parent_run_id = any (array[e.parent_run_id]) and c.run_id = any (array[e.id])
),
pruned_slots as (
  delete from belay.workflow_limit_slots s using ended_runs e where s.run_id = any (array[e.id])
),
pruned_waiters as (
  delete from belay.workflow_limit_waiters w using ended_runs e where w.run_id = any (array[e.id])
),
pruned_signals as (
  delete from belay.workflow_signals s using ended_runs e where s.run_id = any (array[e.id])
),
pruned_history as (
  delete from belay.workflow_history h using ended_runs e where h.run_id = any (array[e.id])
),
pruned_attempts as (
  delete from belay.workflow_attempts a using ended_runs e where a.run_id = any (array[e.id])
),
pruned_values as (
  delete from belay.workflow_values v using ended_runs e where v.run_id = any (array[e.id])
)
delete from belay.workflow_runs r using ended_runs e where r.id = any (array[e.id])
returning r.id as run_id`,
}

export async function prune(
  connection: Connection,
  request: { runIds: readonly string[]; finishedBefore: number },
): Promise<readonly string[]> {
  const runIds = [...new Set(request.runIds.filter(isUuid))]
  if (runIds.length === 0) return []
  const rows = await connection.query(pruneEndedRuns, [runIds, request.finishedBefore])
  return rows.map((row) => row.run_id)
}
