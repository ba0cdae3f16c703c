import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM, RANGE_ITEMS_MAX, RANGES_MIN } from '../rows/item-rows.ts'
import { forgottenHints, leadOf, notedLate, placeAt } from '../rows/queue-place.ts'

/**
 * Makes those items of a resumed run ready whose turn came during the pause, and queues every item that is ready, or waits until an instant or for
 * nothing any more: neighbours that are ready by ranges, others one by one. Guarantee: the transaction holds the locks on the run and its joins, so no
 * claim of its items is under way, none has discarded a hint of an item that was not ready yet, and no turn is given. An item that becomes ready
 * meanwhile is queued by what makes it ready. Index: primary keys. Locks: the items that become ready, and queue rows, skipping locked ones.
 */
export const queueItems: Statement<{ readonly queued: number }> = {
  name: 'queue_items',
  text: `
with resumed_run as materialized (
  select r.id, r.definition_id, r.start_at from belay.workflow_runs r where r.id = any (array[$1::uuid])
),
limited_maps as materialized (
  select r.id as run_id, (j.opener + 1) * ${FIRST_ITEM} as first_item, s.next_item, s.item_order, 'pending' as waiting_status
  from resumed_run r
  cross join lateral (
    select ds.step, ds.dependencies[1] as opener, 'completed' as decided_status from belay.workflow_definition_steps ds
    where ds.definition_id = any (array[r.definition_id]) and ds.kind = 'join'
  ) j
  join belay.workflow_steps s on s.run_id = any (array[r.id]) and s.step = any (array[j.step])
  join belay.workflow_steps o on o.run_id = any (array[r.id]) and o.step = any (array[j.opener])
  where s.status = 'pending' and s.at_once is not null and o.status = any (array[j.decided_status])
),
-- An item before the next one in the order of its map has had its turn, so one that is pending got it during the pause.
past_turns as materialized (
  select m.run_id, m.waiting_status, t.begin_step, t.end_step
  from limited_maps m
  cross join lateral (
    select m.first_item as begin_step, m.first_item + least(m.next_item, ${FIRST_ITEM}) as end_step
    where m.item_order is null
    union all
    select m.first_item + o.index, m.first_item + o.index + 1
    from unnest(m.item_order[1:m.next_item]) as o (index)
  ) t
),
begun_items as (
  update belay.workflow_steps s
  set status = case when s.open_dependencies > 1 then s.status else 'ready' end, open_dependencies = s.open_dependencies - 1
  from past_turns t
  where s.run_id = any (array[t.run_id]) and s.step >= t.begin_step and s.step < t.end_step and s.status = any (array[t.waiting_status])
  returning s.step, s.fence, s.status, s.undo_of, s.priority, s.available_at
),
claimable_items as materialized (
  select o.step, o.fence, o.available_at, ${leadOf('o')} as lead, o.definition_id, o.run_id, o.waits,
    greatest(o.start_at, o.available_at, belay.store_now()) as ready_at
  from (
    select b.step, b.fence, b.undo_of, b.priority, b.available_at, r.id as run_id, r.definition_id, r.start_at, false as waits
    from begun_items b cross join resumed_run r
    where b.status = 'ready'
    union all
    select s.step, s.fence, s.undo_of, s.priority, case when s.signalled_at is null then s.available_at end, r.id, r.definition_id, r.start_at,
      s.status = 'waiting'
    from resumed_run r
    join belay.workflow_steps s on s.run_id = any (array[r.id])
    -- As a case, so that no statistics of statuses make the planner expect few of them. A wait without an end is not queued.
    where s.step >= ${FIRST_ITEM}
      and case s.status when 'ready' then true when 'waiting' then s.available_at is not null or s.signalled_at is not null end
  ) o
),
widths as materialized (
  select greatest(1, least(${RANGE_ITEMS_MAX}, count(*) / ${RANGES_MIN}))::int as items from claimable_items
),
-- A range names items that are ready: claims of ranges leave those alone that wait.
ranges as materialized (
  select g.step, g.items, g.fence, g.lead, r.definition_id, r.id as run_id
  from (
    select min(i.step) as step, count(*)::int as items, i.fence, i.lead
    from (
      select c.step, c.fence, c.lead, c.step - (row_number() over (partition by c.step >> 16, c.fence, c.lead order by c.step))::int as neighbours
      from claimable_items c
      where c.ready_at <= belay.store_now() and not c.waits
    ) i
    cross join widths w
    group by i.step >> 16, i.fence, i.lead, i.neighbours, i.step / w.items
  ) g
  cross join resumed_run r
),
queued_ranges as (
  insert into belay.workflow_ready_items (available_at, definition_id, step, items, fence, run_id)
  select ${placeAt('belay.store_now()', 'r.lead')}, r.definition_id, r.step, r.items, r.fence, r.run_id
  from ranges r
  where r.items > 1
),
single_items as materialized (
  select r.step, r.fence, r.lead, r.definition_id, r.run_id, belay.store_now() as ready_at from ranges r where r.items = 1
  union all
  select c.step, c.fence, c.lead, c.definition_id, c.run_id, c.ready_at from claimable_items c
  where c.ready_at > belay.store_now() or c.waits
),
queued_items as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeAt('q.ready_at', 'q.lead')}, q.definition_id, q.step, q.fence, q.run_id
  from single_items q
),
${notedLate('single_items', 'q.ready_at', 'q.lead')},
-- They are queued anew.
${forgottenHints('claimable_items f', 'f.definition_id')}
select count(*)::int as queued from claimable_items`,
}
