import type { Statement } from '../connection/statement.ts'

/**
 * Replaces the oldest rows of a worker's journal, up to a limit, by one row that names those of their runs in which the worker still holds a step.
 * Index: the journal and steps by primary key. Locks: the worker's row (shared) and rows of its journal, skipping locked ones.
 *
 * Guarantee: after this as before, the journal names every run in which a live worker holds a step. A statement that first leases a step of a run to
 * a worker writes a row: a claim, a start, the beginning of an undo. Later the worker may get further steps of the run without a row, but only by
 * settling a step that it holds until that very commit. So from the row on, the worker holds a step of the run at each moment, until it holds none.
 * Now take a run in which the worker holds a step when this has committed, and a row that this removes:
 * - Did the run come to the worker before this statement's snapshot? Then the snapshot shows a step of it as held, whatever has been settled since,
 * and the replacing row names the run.
 * - Did it come later? Then the row written with it is not in the snapshot, and this removes only rows of its snapshot.
 * A worker that was declared dead is left to the sweep, which takes its journal apart.
 */
export const trimLeases: Statement<{
  readonly removed_ids: readonly string[]
  readonly id: string | null
  readonly run_ids: readonly string[]
}> = {
  name: 'trim_leases',
  text: `
with live_worker as materialized (
  select w.id, array['running', 'compensating'] as leased_statuses
  from belay.workflow_workers w
  where w.id = $1::uuid and w.status = 'live'
  for key share skip locked
),
old_rows as materialized (
  select l.ctid as row_at, l.id, l.run_ids
  from live_worker
  join belay.workflow_leases l on l.worker_id = any (array[live_worker.id])
  order by l.worker_id, l.id
  limit $2::int
  for update of l skip locked
),
named_runs as materialized (
  select distinct named.run_id, live_worker.id as worker_id, live_worker.leased_statuses
  from old_rows
  cross join live_worker
  cross join lateral unnest(old_rows.run_ids) as named (run_id)
),
held_runs as materialized (
  select distinct n.run_id
  from named_runs n
  join belay.workflow_steps s on s.run_id = any (array[n.run_id])
  where s.worker_id = any (array[n.worker_id]) and s.status = any (n.leased_statuses)
),
-- A single row that names nothing else stays unchanged.
removed_rows as materialized (
  select o.row_at, o.id
  from old_rows o
  where (select count(*) from old_rows) > 1 or (select count(*) from held_runs) < (select count(*) from named_runs)
),
deleted_rows as (
  delete from belay.workflow_leases l
  where l.ctid = any (array(select r.row_at from removed_rows r))
),
replacing_row as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $1::uuid, array_agg(h.run_id)
  from held_runs h
  where (select count(*) from removed_rows) > 0
  having count(*) > 0
  returning id, run_ids
)
select array(select r.id::text from removed_rows r) as removed_ids, (select n.id::text from replacing_row n) as id,
  coalesce((select n.run_ids::text[] from replacing_row n), '{}') as run_ids`,
}
