import type { RunStatus, UndoPlan } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Begins the undo of drained runs. Guarantee: exactly once per run, since `ends_as` is set under the run's lock; a plan for a run that is
 * not drained changes nothing. Index: primary keys. Locks: runs first, by id, against the usual order: nothing else locks steps of a
 * drained run and then wants the run.
 */
export const beginUndos: Statement<{ readonly run_id: string; readonly status: RunStatus }> = {
  name: 'begin_undos',
  text: `
with locked_runs as materialized (
  select r.id, r.definition_id, plan.ends_as
  from unnest($1::uuid[], $2::text[], $6::float8[]) as plan (run_id, ends_as, attempts)
  join belay.workflow_runs r on r.id = any (array[plan.run_id])
  where r.status = 'compensating' and r.ends_as is null
    -- Nothing in a stopped run can start again, so this holds although the snapshot may be older than the lock.
    and (
      select count(*) from belay.workflow_steps s
      where s.run_id = r.id and s.status in ('pending', 'ready', 'running', 'waiting')
    ) = 0
    -- A plan from before the run was sent forward again is late.
    and (plan.attempts is null
      or plan.attempts = (select sum(s.attempt)::float8 from belay.workflow_steps s where s.run_id = r.id))
  order by r.id
  for update of r
),
planned_undos as materialized (
  select undo.run_id, undo.step, undo.open_dependents, l.definition_id,
    array['completed', 'failed', 'skipped', 'cancelled'] as ended_statuses
  from locked_runs l
  join unnest($3::uuid[], $4::int[], $5::int[]) as undo (run_id, step, open_dependents) on undo.run_id = l.id
  order by undo.run_id, undo.step
),
begun_undos as (
  update belay.workflow_steps s
  set undo_of = s.status, status = 'compensating', open_dependencies = p.open_dependents,
    failures = 0, losses = 0, worker_id = null
  from planned_undos p
  where s.run_id = any (array[p.run_id]) and s.step = any (array[p.step])
    and s.status = any (p.ended_statuses)
  returning s.run_id, s.step, s.attempt, p.definition_id, s.open_dependencies
),
queued_undos as (
  insert into belay.workflow_ready (available_at, definition_id, step, attempt, run_id)
  select belay.store_now(), u.definition_id, u.step, u.attempt, u.run_id
  from begun_undos u
  where u.open_dependencies = 0
),
open_undos as materialized (
  select l.id, l.ends_as, (select count(*)::int from begun_undos u where u.run_id = l.id) as open_steps
  from locked_runs l
)
update belay.workflow_runs r
set ends_as = o.ends_as, open_steps = o.open_steps,
  status = case when o.open_steps = 0 then o.ends_as else r.status end,
  finished_at = case when o.open_steps = 0 then belay.store_now() end
from open_undos o
where r.id = any (array[o.id]) and r.ends_as is null
returning r.id as run_id, r.status`,
}

export async function beginUndo(
  connection: Connection,
  plans: readonly UndoPlan[],
): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]> {
  if (plans.length === 0) return []
  const undos = plans.flatMap(({ runId, undos }) => undos.map((undo) => ({ runId, ...undo })))
  const rows = await connection.query(beginUndos, [
    plans.map((plan) => plan.runId),
    plans.map((plan) => plan.endsAs),
    undos.map((undo) => undo.runId),
    undos.map((undo) => undo.step),
    undos.map((undo) => undo.openDependents),
    plans.map((plan) => plan.attempts ?? null),
  ])
  return rows.map((row) => ({ runId: row.run_id, status: row.status }))
}
