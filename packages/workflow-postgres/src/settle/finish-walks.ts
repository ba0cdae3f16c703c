import { claimedColumns, countedAttempts } from '../rows/claim-row.ts'
import { FIRST_ITEM, newItem, newItems, templateOf } from '../rows/item-rows.ts'
import { leadOf, placeNow } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/** How the statements that record finished attempts walk from a row to the rows that wait for it. */
export interface Walk {
  /** The conditions that find the row of a finished attempt `a` by its number, and that of a step `b` to count down. */
  readonly own: string
  readonly blocked: string
  /** The query of the CTE `followed_edges`: for each settled row, the numbers of the rows to count down. */
  readonly edges: string
  /** Further edges, as a part of the query of `satisfied_dependencies`. */
  readonly moreEdges: string
  /** What else changes in a row that is counted down, and what else is returned of it. */
  readonly counts: string
  readonly counted: string
  /** CTEs after `updated_steps`. */
  readonly freed: string
  /** A further condition under which something was queued. */
  readonly queued: string
  /** Further parts of the answer. */
  readonly answers: string
}

/** From a step of the definition. */
export const STEPS: Walk = {
  // As lists, which cost less than ranges. For a few steps of one run, it does not matter what `stepIs` says of lists.
  own: 's.step = any (array[a.step])',
  blocked: 's.step = any (array[b.step])',
  edges: `  select t.definition_id, t.undo, array_agg(t.run_id) as run_ids,
    (select case when t.undo then ds.dependencies else ds.dependents end
     from belay.workflow_definition_steps ds
     where ds.definition_id = t.definition_id and ds.step = t.step) as neighbours
  from settled_attempts t
  group by t.definition_id, t.step, t.undo`,
  moreEdges: '',
  counts: '',
  counted: '',
  freed: '',
  queued: '',
  answers: '',
}

/**
 * From a step of the definition, in a batch with skipped steps. A map that ran before an undo may be skipped now: then its items are skipped with it.
 */
export const SKIPS: Walk = {
  ...STEPS,
  counted: `,
    b.undo`,
  freed: `
${skippedItems('finished_attempts', 'a.branch')},`,
}

/**
 * From an item of a map to the join, and in an undo to the map; in an undo from the join to the map and its items. As many items as have ended are
 * freed, under the join's lock and in order, so that the map's limit holds exactly. In an undo, a loop is walked from the join to its last round, and
 * from each round to the one before it.
 */
export const ITEMS: Walk = {
  own: stepIs('s', 'a.step'),
  blocked: stepIs('s', 'b.step'),
  edges: `  select t.definition_id, t.undo, array_agg(t.run_id) as run_ids,
    (select case when t.is_item and t.undo then array[coalesce(t.round_before, t.template)] when t.undo then ds.dependencies else ds.dependents end
     from belay.workflow_definition_steps ds
     where ds.definition_id = t.definition_id and ds.step = t.template) as neighbours
  from (
    select s.run_id, s.definition_id, s.undo, s.is_item, s.template,
      case when s.is_item and s.undo and s.step % ${FIRST_ITEM} > 0 and (
        select ds.kind = 'repeat' from belay.workflow_definition_steps ds
        where ds.definition_id = s.definition_id and ds.step = s.template
      ) then s.step - 1 end as round_before
    from (
      select a.run_id, a.step, a.definition_id, a.undo, a.step >= ${FIRST_ITEM} as is_item, ${templateOf('a.step')} as template
      from settled_attempts a
    ) s
  ) t
  group by t.definition_id, t.template, t.is_item, t.undo, t.round_before`,
  moreEdges: `
    union all
    select t.run_id, s.step, true, t.definition_id
    from (select j.run_id, j.step, j.definition_id, 'compensating' as blocked_status from settled_attempts j where j.undo) t
    join belay.workflow_definition_steps ds on ds.definition_id = any (array[t.definition_id]) and ds.step = any (array[t.step])
    join belay.workflow_definition_steps opener
      on opener.definition_id = any (array[t.definition_id]) and opener.step = any (array[ds.dependencies[1]])
    join belay.workflow_steps s on s.run_id = any (array[t.run_id])
    where ds.kind = 'join' and s.step >= (opener.step + 1) * ${FIRST_ITEM} and s.step < (opener.step + 2) * ${FIRST_ITEM}
      and s.status = any (array[t.blocked_status])
      and (opener.kind = 'map' or s.step = (
        select max(l.step) from belay.workflow_steps l
        where l.run_id = s.run_id and l.step >= (opener.step + 1) * ${FIRST_ITEM} and l.step < (opener.step + 2) * ${FIRST_ITEM}))`,
  counts: `,
    next_item = s.next_item + case when b.undo then 0 else b.satisfied end`,
  // A map without a limit, and a loop, hold nothing back.
  counted: `,
    case when s.at_once is not null then s.next_item end as next_item,
    case when s.at_once is not null then s.item_order[s.next_item - b.satisfied + 1 : s.next_item] end as freed_order, b.satisfied, b.undo`,
  freed: `
freed_items as (
  update belay.workflow_steps s
  set open_dependencies = s.open_dependencies - 1,
    status = case when s.open_dependencies > 1 then s.status when s.step < f.leased_below then 'running' else 'ready' end,
    fence = case when s.open_dependencies = 1 and s.step < f.leased_below then s.fence + 1 else s.fence end,
    worker_id = case when s.open_dependencies = 1 and s.step < f.leased_below then $1::uuid else s.worker_id end,
    attempts = case when s.open_dependencies = 1 and s.step < f.leased_below then ${countedAttempts} + 1 else s.attempts end,
    started_at = case when s.open_dependencies = 1 and s.step < f.leased_below then belay.store_clock() else s.started_at end,
    finished_at = case when s.open_dependencies = 1 and s.step < f.leased_below then null else s.finished_at end
  from (
    select e.run_id, e.definition_id, e.waiting_status, i.begin_step, i.end_step, i.begin_step + i.leased as leased_below
    from (
      select m.*, greatest(0, m.room - (sum(m.satisfied) over (order by m.run_id, m.first_item))::int + m.satisfied) as leased
      from (
        select u.run_id, u.definition_id, (ds.dependencies[1] + 1) * ${FIRST_ITEM} as first_item, u.next_item, u.freed_order, u.satisfied,
          'pending' as waiting_status,
          case when exists (select from live_worker) then $9::int - (select count(*)::int from updated_steps h where h.unblocked) else 0 end as room
        from updated_steps u
        join belay.workflow_definition_steps ds on ds.definition_id = any (array[u.definition_id]) and ds.step = any (array[u.step])
        where u.next_item is not null and not u.undo
      ) m
    ) e
    -- The items that wait follow one another, unless an operator's action has given them an order.
    cross join lateral (
      select e.first_item + e.next_item - e.satisfied as begin_step, e.first_item + least(e.next_item, ${FIRST_ITEM}) as end_step, e.leased
      where e.freed_order is null
      union all
      select e.first_item + o.index, e.first_item + o.index + 1, case when o.position <= e.leased then 1 else 0 end
      from unnest(e.freed_order) with ordinality as o (index, position)
    ) i
    order by e.run_id, i.begin_step
  ) f
  where s.run_id = any (array[f.run_id]) and s.step >= f.begin_step and s.step < f.end_step
    and s.status = any (array[f.waiting_status])
  returning s.run_id, s.step, s.fence, s.status, f.definition_id, ${claimedColumns}, s.priority, ${newItem(1)}
),
queued_items as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('i'))}, i.definition_id, i.step, i.fence, i.run_id from freed_items i where i.status = 'ready'
),`,
  queued: `
  or exists (select from freed_items i where i.status = 'ready')`,
  answers: `
union all
select 'items', null, null, c.run_id, null, null, c.definition_id, null, null, null, null, null, null, null, c.items::text, null, null
from (${newItems("(select * from freed_items i where i.status = 'running')")}) c
union all
select 'claim', null, null, i.run_id, i.step, i.fence, i.definition_id, i.round, i.attempt, i.failures, i.losses, i.undo_of, null, null, null, null, null
from freed_items i where i.status = 'running' and i.new_item is null`,
}

/** From a step past whose failure its run continues. A loop that ran before an undo may fail to begin now: then its rounds are skipped with it. */
export const FAILURES: Walk = {
  ...ITEMS,
  freed: `${ITEMS.freed}
${skippedItems(
  'settled_attempts',
  `'{"runs":false,"because":"outcome","dependency":' || (
      select to_json(opener.name)::text from belay.workflow_definition_steps opener
      where opener.definition_id = u.definition_id and opener.step = a.step
    ) || ',"outcome":"failed"}'`,
)},`,
}

/** Skips what is left of an earlier time of the maps and loops that ended in the CTE `ended`. Their rows stay, so that their fences never repeat. */
function skippedItems(ended: string, branch: string): string {
  return `skipped_items as (
  update belay.workflow_steps s
  set status = 'skipped', open_dependencies = 0, finished_at = belay.store_now(), branch = m.branch::json
  from (
    -- Not the number of what ended: it may be an item's, and as a factor be out of range before the join discards it.
    select u.run_id, ds.dependencies[1] as step, ${branch} as branch, 'pending' as waiting_status
    from updated_steps u
    join belay.workflow_definition_steps ds on ds.definition_id = any (array[u.definition_id]) and ds.step = any (array[u.step])
    join ${ended} a on a.run_id = any (array[u.run_id]) and a.step = any (array[ds.dependencies[1]])
    where ds.kind = 'join' and not u.undo
  ) m
  where s.run_id = any (array[m.run_id]) and s.step >= (m.step + 1) * ${FIRST_ITEM} and s.step < (m.step + 2) * ${FIRST_ITEM}
    and s.status = any (array[m.waiting_status])
)`
}
