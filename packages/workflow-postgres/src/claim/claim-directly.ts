import { boundedLockWait } from '../base/lock-wait.ts'
import type { Statement } from '../connection/statement.ts'
import { begunAttempt, type ClaimAnswer, claimedColumns } from '../rows/claim-row.ts'

/**
 * Does the work of {@link claimSteps} in fewer writes. It locks no step before it updates it, so it waits briefly for a locked step. If that wait
 * times out, the whole claim is rolled back. Guarantee and index as there. It removes every hint that it looked at: a hint that does not match its
 * step is stale. Locks: the worker's row (shared), queue rows (skipping locked ones), then steps.
 */
export const claimStepsDirectly: Statement<ClaimAnswer> = {
  name: 'claim_steps_directly',
  text: `
with ${boundedLockWait('$6')},
live_worker as materialized (
  -- Declaring a worker dead locks this row exclusively, so it happens entirely before or entirely after this claim.
  select w.id from bounded_wait cross join belay.workflow_workers w where w.id = $1::uuid and w.status = 'live' for key share of w
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
due_rows as materialized (
  select due.row_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id and r.available_at <= belay.store_now()
      and r.available_at >= due_definitions.since
    order by r.available_at, r.run_id, r.step
    limit $3::int
    for update skip locked
  ) due
  limit $3::int
),
-- Queue rows are never updated, so the ctid of a locked row stays valid until this statement ends.
dequeued_rows as (
  delete from belay.workflow_ready r
  where r.ctid = any (array(select row_at from due_rows))
  returning r.run_id, r.step, r.fence, r.definition_id, r.available_at
),
hinted_steps as materialized (
  select q.run_id, q.step, q.fence, min(q.definition_id) as definition_id, min(q.available_at) as available_at
  from dequeued_rows q
  group by q.run_id, q.step, q.fence
  order by q.run_id, q.step
),
due_steps as materialized (
  select h.run_id, h.step, h.fence, h.definition_id, h.available_at, 0 as no_dependencies,
    -- The steps of a run that is stopping are left to the drain, which cancels them; those of a paused one are queued again when it
    -- is resumed.
    case when r.status = 'running' then array['ready', 'waiting']
      when r.status in ('compensating', 'compensation_failed') then array['compensating'] end as claimable_statuses,
    r.has_input, case when r.has_input then r.input::text end as input
  from hinted_steps h
  cross join lateral (
    select run.status, run.input, run.input is null or pg_column_size(run.input) <= 2000 as has_input
    from belay.workflow_runs run where run.id = any (array[h.run_id])
  ) r
),
claimed_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'compensating' then s.status else 'running' end,
    fence = s.fence + 1, worker_id = $1::uuid, ${begunAttempt}
  from due_steps due
  where s.run_id = any (array[due.run_id]) and s.step = any (array[due.step])
    -- A hint with an older fence is stale. In a run that was paused meanwhile, each step has one more open dependency.
    and s.fence = any (array[due.fence]) and s.status = any (due.claimable_statuses)
    and s.open_dependencies = any (array[due.no_dependencies]) and case when due.run_id is not null then s.worker_id is null end
  returning s.run_id, s.step, s.fence, due.definition_id, ${claimedColumns}, due.available_at,
    due.has_input, due.input
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $1::uuid, array_agg(c.run_id) from claimed_steps c having count(*) > 0
  returning id
),
trimmed_leases as (
  delete from belay.workflow_leases l
  where l.ctid = any (array(
    select ended.ctid from belay.workflow_leases ended
    where ended.worker_id = $1::uuid and ended.id = any ($5::bigint[])
    for update skip locked
  ))
)
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from dequeued_rows) as looked, 0 as kept,
  (select count(*)::int from claimed_steps) as leased, (select j.id::text from journaled_runs j) as journal_id, m.definition_ids, m.marks,
  (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms, null::uuid as run_id, null::int as step,
  null::int as fence, null::int as definition_id, null::int as round, null::int as attempt, null::int as failures, null::int as losses,
  null as undo_of, null::bool as has_input, null as input
from (
  select array_agg(newest.definition_id) as definition_ids, array_agg(newest.mark) as marks
  from (
    select q.definition_id, extract(epoch from max(q.available_at))::float8 as mark
    from dequeued_rows q
    group by q.definition_id
  ) newest
) m
union all
select 'claim', null, null, null, null, null, null, null, null, c.run_id, c.step, c.fence, c.definition_id, c.round, c.attempt,
  c.failures, c.losses, c.undo_of, c.has_input, c.input
from (select * from claimed_steps order by available_at, run_id, step) c`,
}
