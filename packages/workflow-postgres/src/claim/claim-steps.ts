import type { Statement } from '../connection/statement.ts'
import { begunAttempt, type ClaimAnswer, claimedColumns } from '../rows/claim-row.ts'

/**
 * Leases due steps to a live worker, and removes the stale hints among those it looked at. For each definition it looks at rows due since the mark,
 * or at all rows without a mark. Guarantee: a step is leased once; never to a worker that was declared dead before; never after its run was paused. A
 * locked step is skipped and stays in the queue. The journal names every run of which the worker gets a step. Index: the queue by (definition,
 * available_at), steps and runs by primary key. Locks: the worker's row (shared), queue rows and steps, both skipping locked ones, so it waits for no
 * other transaction.
 */
export const claimSteps: Statement<ClaimAnswer> = {
  name: 'claim_steps',
  text: `
with live_worker as materialized (
  -- Declaring a worker dead locks this row exclusively, so it happens entirely before or entirely after this claim.
  select w.id from belay.workflow_workers w where w.id = $1::uuid and w.status = 'live' for key share
),
due_definitions as materialized (
  select wanted.definition_id, wanted.since, oldest.available_at
  from live_worker
  cross join (
    select w.definition_id, to_timestamp(w.mark) as since from unnest($2::int[], $4::float8[]) as w (definition_id, mark)
  ) wanted
  cross join lateral (
    select r.available_at from belay.workflow_ready r
    where r.definition_id = wanted.definition_id and r.available_at <= belay.store_now() and r.available_at >= wanted.since
    order by r.available_at
    limit 1
  ) oldest
  order by oldest.available_at
),
-- Queue rows are never updated, so the place of a locked row is its own until this statement ends.
due_rows as materialized (
  select due.row_at, due.run_id, due.step, due.fence, due.definition_id, due.available_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at, r.run_id, r.step, r.fence, r.definition_id, r.available_at from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id and r.available_at <= belay.store_now()
      and r.available_at >= due_definitions.since
    order by r.available_at, r.run_id, r.step
    limit $5::int
    for update skip locked
  ) due
  limit $5::int
),
due_steps as materialized (
  select h.row_at, h.run_id, h.step, h.fence, h.definition_id, h.available_at, 0 as no_dependencies,
    -- The steps of a run that is stopping are left to the drain, which cancels them; those of a paused one are queued again when it
    -- is resumed.
    case when r.status = 'running' then array['ready', 'waiting']
      when r.status in ('compensating', 'compensation_failed') then array['compensating'] end as claimable_statuses,
    r.has_input, case when r.has_input then r.input::text end as input
  from due_rows h
  cross join lateral (
    select run.status, run.input, run.input is null or pg_column_size(run.input) <= 2000 as has_input
    from belay.workflow_runs run where run.id = any (array[h.run_id])
  ) r
),
-- All conditions are checked on the locked row's current version. In a run that was paused meanwhile, each step has one more open dependency.
locked_steps as materialized (
  select s.ctid as step_at, s.run_id, s.step, s.fence, ${claimedColumns}, d.row_at, d.definition_id,
    d.available_at, d.has_input, d.input
  from due_steps d
  join belay.workflow_steps s on s.run_id = any (array[d.run_id]) and s.step = any (array[d.step])
  -- A hint with an older fence is stale.
  where s.fence = any (array[d.fence]) and s.status = any (d.claimable_statuses)
    and s.open_dependencies = any (array[d.no_dependencies]) and case when d.run_id is not null then s.worker_id is null end
  limit $3::int
  for update of s skip locked
),
-- By ctid, which is cheaper than by key. A row that was changed after this statement's snapshot and then locked has a new ctid, so it is not found;
-- the next claim takes it.
claimed_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'compensating' then s.status else 'running' end,
    fence = s.fence + 1, worker_id = $1::uuid, ${begunAttempt}
  where s.ctid = any (array(select l.step_at from locked_steps l))
  returning s.run_id, s.step
),
taken_steps as materialized (
  select l.run_id, l.step, l.fence + 1 as fence, l.round, l.attempt + 1 as attempt, l.failures, l.losses, l.undo_of, l.row_at,
    l.definition_id, l.available_at, l.has_input, l.input
  from locked_steps l
  where (select count(*) from claimed_steps) = (select count(*) from locked_steps)
    or (l.run_id, l.step) in (select c.run_id, c.step from claimed_steps c)
),
-- The hint matches its step, but the step was locked or changed just now, or the limit was reached.
kept_rows as materialized (
  select d.row_at, d.definition_id, d.available_at
  from due_steps d
  join belay.workflow_steps s on s.run_id = any (array[d.run_id]) and s.step = any (array[d.step])
  where (select count(*) from taken_steps) < (select count(*) from due_rows)
    and s.fence = any (array[d.fence]) and s.status = any (d.claimable_statuses)
    and s.open_dependencies = any (array[d.no_dependencies]) and case when d.run_id is not null then s.worker_id is null end
    and d.row_at not in (select t.row_at from taken_steps t)
),
dequeued_rows as (
  delete from belay.workflow_ready r
  where r.ctid = any (array(select d.row_at from due_rows d where d.row_at not in (select k.row_at from kept_rows k)))
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $1::uuid, array_agg(t.run_id) from taken_steps t having count(*) > 0
  returning id
),
trimmed_leases as (
  delete from belay.workflow_leases l
  where l.ctid = any (array(
    select ended.ctid from belay.workflow_leases ended
    where ended.worker_id = $1::uuid and ended.id = any ($6::bigint[])
    for update skip locked
  ))
)
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from due_rows) as looked,
  (select count(*)::int from kept_rows) as kept,
  (select count(*)::int from claimed_steps) as leased, (select j.id::text from journaled_runs j) as journal_id, m.definition_ids, m.marks,
  (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms, null::uuid as run_id, null::int as step,
  null::int as fence, null::int as definition_id, null::int as round, null::int as attempt, null::int as failures, null::int as losses,
  null as undo_of, null::bool as has_input, null as input
from (
  select array_agg(newest.definition_id) as definition_ids, array_agg(newest.mark) as marks
  from (
    -- A mark never lies behind a row that stays in the queue.
    select d.definition_id, extract(epoch from coalesce(
      (select min(k.available_at) from kept_rows k where k.definition_id = d.definition_id), max(d.available_at)))::float8 as mark
    from due_rows d
    group by d.definition_id
  ) newest
) m
union all
select 'claim', null, null, null, null, null, null, null, null, c.run_id, c.step, c.fence, c.definition_id, c.round, c.attempt,
  c.failures, c.losses, c.undo_of, c.has_input, c.input
from (select * from taken_steps order by available_at, run_id, step) c`,
}
