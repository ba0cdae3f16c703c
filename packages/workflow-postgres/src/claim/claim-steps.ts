import type { Statement } from '../connection/statement.ts'
import { begunAttempt, type ClaimAnswer, claimedColumns } from '../rows/claim-row.ts'
import { FIRST_ITEM, newItem } from '../rows/item-rows.ts'
import { waitedMs } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'
import {
  claimableSteps,
  claimRows,
  dueDefinitions,
  headColumns,
  itemRuns,
  liveWorker,
  newestMarks,
  trimmedLeases,
} from './claim-parts.ts'

/**
 * Leases due steps to a live worker, and removes the stale hints among those it looked at. For each definition it looks at rows due since the mark,
 * or at all rows without a mark. Guarantee: a step is leased once; never to a worker that was declared dead before; never after its run was paused. A
 * locked step is skipped and stays in the queue. The journal names every run of which the worker gets a step. Index: the queue by (definition,
 * available_at), steps and runs by primary key. Locks: the worker's row (shared), queue rows, the runs of items (shared) and steps, all skipping locked
 * ones, so it waits for no other transaction.
 */
export const claimSteps: Statement<ClaimAnswer> = {
  name: 'claim_steps',
  text: leasing(`-- Queue rows are never updated, so the ctid of a locked row stays valid until this statement ends.
due_rows as materialized (
  select due.row_at, due.run_id, due.step, due.fence, due.definition_id, due.available_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at, r.run_id, r.step, r.fence, r.definition_id, r.available_at from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id and r.available_at <= due_definitions.until
      and r.available_at >= due_definitions.available_at
    order by r.available_at, r.run_id, r.step
    limit $5::int
    for update skip locked
  ) due
  limit $5::int
)`),
}

/** How many rows at the head of a definition's queue are looked at for undos. */
const UNDO_LOOK_MAX = 1_000

/**
 * Leases undos alone, for slots that are reserved for them. They are at the head of the queue, further ahead than a step that goes forward can have
 * been placed; what goes forward and has been ready for longer than that is looked at and left. Guarantee, index and locks as of {@link claimSteps}.
 */
export const claimUndos: Statement<ClaimAnswer> = {
  name: 'claim_undos',
  text: leasing(`found_undos as materialized (
  select first.row_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at, r.run_id, r.step, r.fence from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id
      and r.available_at <= due_definitions.until
      and r.available_at >= due_definitions.available_at
    order by r.available_at, r.run_id, r.step
    limit ${UNDO_LOOK_MAX}
  ) first
  cross join lateral (
    select s.fence from belay.workflow_steps s
    where s.run_id = any (array[first.run_id]) and ${stepIs('s', 'first.step')}
      and s.status = 'compensating' and s.fence = any (array[first.fence]) and s.worker_id is null
    limit 1
  ) undo
),
due_rows as materialized (
  select r.ctid as row_at, r.run_id, r.step, r.fence, r.definition_id, r.available_at from belay.workflow_ready r
  where r.ctid = any (array(select f.row_at from found_undos f))
  order by r.available_at, r.run_id, r.step
  limit $5::int
  for update skip locked
)`),
}

/** The statement that leases steps whose hints `dueRows` yields and locks, as the CTE `due_rows`. */
function leasing(dueRows: string): string {
  return `
with ${liveWorker('workflow_ready')},
${dueDefinitions('workflow_ready', { since: '$4', minutes: '$7' })},
${dueRows},
${itemRuns(`select h.run_id from due_rows h where h.step >= ${FIRST_ITEM}`, 'skip locked')},
due_steps as materialized (
  select h.row_at, h.run_id, h.step, h.fence, h.definition_id, h.available_at, r.status is null as is_held_up, ${claimableSteps('due_rows h')}
),
-- All conditions are checked on the locked row's current version. In a run that was paused meanwhile, each step has one more open dependency; but no
-- item.
locked_steps as materialized (
  select s.ctid as step_at, s.run_id, s.step, s.fence, ${claimedColumns}, d.row_at, d.definition_id,
    d.available_at, d.has_input, d.input, ${waitedMs('s', 'd.available_at')} as waited_ms, ${newItem(0, waitedMs('s', 'd.available_at'))}
  from due_steps d
  join belay.workflow_steps s on s.run_id = any (array[d.run_id]) and ${stepIs('s', 'd.step')}
  -- A hint with an older fence is stale.
  where s.fence = any (array[d.fence]) and s.status = any (d.claimable_statuses)
    and s.open_dependencies = any (array[d.no_dependencies]) and case when d.run_id is not null then s.worker_id is null end
  limit $3::int
  for no key update of s skip locked
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
    l.definition_id, l.available_at, l.has_input, l.input, l.waited_ms, l.new_item
  from locked_steps l
  where (select count(*) from claimed_steps) = (select count(*) from locked_steps)
    or (l.run_id, l.step) in (select c.run_id, c.step from claimed_steps c)
),
-- The hint matches its step, but the step or its run was locked or changed just now, or the limit was reached.
kept_rows as materialized (
  select d.row_at, d.definition_id, d.available_at
  from due_steps d
  join belay.workflow_steps s on s.run_id = any (array[d.run_id]) and ${stepIs('s', 'd.step')}
  where (select count(*) from taken_steps) < (select count(*) from due_rows)
    and s.fence = any (array[d.fence]) and case when d.is_held_up then true else s.status = any (d.claimable_statuses) end
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
${trimmedLeases('$6')}
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from due_rows) as looked,
  (select count(*)::int from kept_rows) as kept,
  ${headColumns('workflow_ready')}
from (${newestMarks('due_rows', 't.row_at in (select k.row_at from kept_rows k)')}) m
union all
${claimRows('taken_steps')}`
}
