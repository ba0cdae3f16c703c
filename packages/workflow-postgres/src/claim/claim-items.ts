import { boundedLockWait } from '../base/lock-wait.ts'
import type { Statement } from '../connection/statement.ts'
import { begunAttempt, type ClaimAnswer, claimedColumns } from '../rows/claim-row.ts'
import { newItem, RANGE_ITEMS_MAX } from '../rows/item-rows.ts'
import { waitedMs } from '../rows/queue-place.ts'
import {
  claimRows,
  dueDefinitions,
  headColumns,
  itemRuns,
  liveWorker,
  newestMarks,
  trimmedLeases,
} from './claim-parts.ts'

/**
 * Leases ready items of maps to a live worker, by hints of many items at once: from as many hints as `$7` says, at most `$3` items. What is left of a
 * hint is queued as a new one. It locks no item before it updates it, so it waits briefly for a locked one; if that wait times out, the whole claim is
 * rolled back. Guarantee and index as in {@link claimSteps}. Locks: the worker's row (shared), hints (skipping locked ones), their runs (shared), then items.
 */
export const claimItems: Statement<ClaimAnswer> = {
  name: 'claim_items',
  text: `
with ${boundedLockWait('$6')},
${liveWorker('workflow_ready_items', 'bounded_wait cross join ')},
${dueDefinitions('workflow_ready_items', { since: '$4', minutes: '$8' })},
${dueRanges('$7')},
${itemRuns('select h.run_id from belay.workflow_ready_items h where h.ctid = any (array(select row_at from due_ranges))')},
-- Resuming a paused run queues its items again.
taken_ranges as materialized (
  select q.row_at, q.run_id, q.step, q.items, q.fence, q.definition_id, q.available_at, q.taken, q.step + q.taken as end_step,
    0 as no_dependencies, 'ready' as ready_status, (select i.status from item_runs i where i.id = q.run_id) as run_status
  from (
    select r.row_at, r.run_id, r.step, r.items, r.fence, r.definition_id, r.available_at,
      least(r.items, $3::int + r.items - (sum(r.items) over (order by r.available_at, r.run_id, r.step, r.row_at))::int) as taken
    from (
      -- A damaged row neither takes all the room nor overflows the sum.
      select h.ctid as row_at, h.run_id, h.step, least(greatest(h.items, 1), ${RANGE_ITEMS_MAX}) as items, h.fence, h.definition_id, h.available_at
      from belay.workflow_ready_items h
      where h.ctid = any (array(select row_at from due_ranges))
    ) r
  ) q
  where q.taken > 0
  order by q.run_id, q.step
),
dequeued_ranges as (
  delete from belay.workflow_ready_items r
  where r.ctid = any (array(select t.row_at from taken_ranges t))
),
rest_of_ranges as (
  insert into belay.workflow_ready_items (available_at, definition_id, step, items, fence, run_id)
  select t.available_at, t.definition_id, t.end_step, t.items - t.taken, t.fence, t.run_id
  from taken_ranges t
  where t.taken < t.items and t.run_status = 'running'
),
claimed_steps as (
  update belay.workflow_steps s
  set status = 'running', fence = s.fence + 1, worker_id = $1::uuid, ${begunAttempt}
  from taken_ranges due
  where due.run_status = 'running' and s.run_id = any (array[due.run_id]) and s.step >= due.step and s.step < due.end_step
    and s.fence = any (array[due.fence]) and s.status = any (array[due.ready_status])
    and s.open_dependencies = any (array[due.no_dependencies]) and case when due.run_id is not null then s.worker_id is null end
  returning s.run_id, s.step, s.fence, due.definition_id, ${claimedColumns}, due.available_at, ${waitedMs('s', 'due.available_at')} as waited_ms,
    false as has_input, null as input, ${newItem(1, waitedMs('s', 'due.available_at'))}
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $1::uuid, array_agg(distinct c.run_id) from claimed_steps c having count(*) > 0
  returning id
),
${trimmedLeases('$5')}
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from due_ranges) as looked, 0 as kept,
  ${headColumns('workflow_ready_items')}
from (${newestMarks('taken_ranges')}) m
union all
${claimRows('claimed_steps')}`,
}

/**
 * Replaces hints of many items by one for each item, which claims that skip locked steps understand. Index: the hints by (definition, available_at).
 * Locks: hints, skipping locked ones.
 */
export const unpackRanges: Statement<{ readonly unpacked: number }> = {
  name: 'unpack_ranges',
  text: `
with ${liveWorker('workflow_ready_items')},
${dueDefinitions('workflow_ready_items', { since: '$3', minutes: '$5' })},
${dueRanges('$4')},
dequeued_ranges as (
  delete from belay.workflow_ready_items r
  where r.ctid = any (array(select row_at from due_ranges))
  returning r.available_at, r.definition_id, r.step, r.items, r.fence, r.run_id
),
queued_items as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select d.available_at, d.definition_id, d.step + n.number, d.fence, d.run_id
  from dequeued_ranges d
  cross join lateral generate_series(0, least(d.items, ${RANGE_ITEMS_MAX}) - 1) as n (number)
)
select count(*)::int as unpacked from due_ranges`,
}

/** The CTE of the hints to look at, the longest due first. They are never updated, so the ctid of a locked one stays valid until the statement ends. */
function dueRanges(limit: string): string {
  return `due_ranges as materialized (
  select due.row_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at from belay.workflow_ready_items r
    where r.definition_id = due_definitions.definition_id and r.available_at <= due_definitions.until
      and r.available_at >= due_definitions.available_at
    order by r.available_at, r.run_id, r.step
    limit ${limit}::int
    for update skip locked
  ) due
  limit ${limit}::int
)`
}

/** Which of these definitions have maps. Index: primary key. No locks, because definitions never change. */
export const findMapped: Statement<{ readonly definition_id: number }> = {
  name: 'find_mapped',
  text: `
select wanted.definition_id
from unnest($1::int[]) as wanted (definition_id)
where exists (
  select from belay.workflow_definition_steps ds where ds.definition_id = any (array[wanted.definition_id]) and ds.kind = 'map'
)`,
}
