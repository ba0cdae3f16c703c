import {
  type Claim,
  HELD_TURNS,
  itemNumber,
  type KeepsAttempts,
  type NewItem,
  type Outcome,
} from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ClaimRow, claimedColumns, countedAttempts, decodeClaim } from '../rows/claim-row.ts'
import { FIRST_ITEM, RANGE_ITEMS_MAX, RANGES_MIN } from '../rows/item-rows.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, placeNow } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Records maps that decided their items, and adds the items as rows: the first are leased to this worker, as far as it has room, and others are queued.
 * Guarantee: all of it commits together; an attempt that no longer holds its step adds nothing; a map whose join was cancelled, because its run is
 * stopping, completes without items. Items that have to wait for their turn have one open dependency; in a paused run, whose join shows one more, none
 * is leased or queued. Index: primary keys. Locks: the worker's row (shared), own steps, then the joins, each by (run, step).
 */
export const expandMaps: Statement<ExpandedRow> = {
  name: 'expand_maps',
  text: expandText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptExpandMaps: Statement<ExpandedRow> = {
  name: 'expand_maps_kept',
  text: expandText({ columns: keptColumns(), rows: keptRows('completed_maps', { ended: `'completed'` }) }),
}

/** One for each map. `joins`: it has no items, and its join was leased; then the row describes that claim too. */
interface ExpandedRow extends ClaimRow {
  readonly position: number
  readonly queued: boolean
  readonly joins: boolean
  /** How many of its items were leased: the first ones, all with this fence and round. */
  readonly leased: number
  readonly item_fence: number
  readonly item_round: number
}

function expandText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$11')},
live_worker as materialized (
  -- The first lock of all, as in a claim. A dead worker may still settle steps that nobody has taken from it, but is leased nothing new.
  select w.id
  from (select count(*) from bounded_wait) as wait_was_bounded
  cross join belay.workflow_workers w
  where w.id = $1::uuid and w.status = 'live'
  for key share of w
),
expanded_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.items, a.at_once, a.items_before, a.position, $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[])
    with ordinality as a (run_id, step, fence, definition_id, items, at_once, items_before, position)
  cross join (select count(*) from live_worker) as worker_was_locked
  order by a.run_id, a.step
),
completed_maps as (
  update belay.workflow_steps s
  set status = 'completed', output = to_json(a.items), finished_at = belay.store_now()
  from expanded_attempts a
  where s.run_id = any (array[a.run_id]) and ${stepIs('s', 'a.step')} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.fence, a.definition_id, a.items, a.at_once, a.items_before, a.position, s.round as map_round, s.priority as map_priority${keeping.columns}
),
-- The join waited for its map alone, and in a paused run for the resumption. Without items it begins at once.
waiting_joins as (
  update belay.workflow_steps s
  set open_dependencies = s.open_dependencies + j.items - 1,
    status = case when s.open_dependencies = j.leased_at then 'running' when s.open_dependencies + j.items = 1 then 'ready' else s.status end,
    fence = case when s.open_dependencies = j.leased_at then s.fence + 1 else s.fence end,
    worker_id = case when s.open_dependencies = j.leased_at then $1::uuid else s.worker_id end,
    attempts = case when s.open_dependencies = j.leased_at then ${countedAttempts} + 1 else s.attempts end,
    started_at = case when s.open_dependencies = j.leased_at then belay.store_clock() else s.started_at end,
    finished_at = case when s.open_dependencies = j.leased_at then null else s.finished_at end,
    at_once = j.at_once, next_item = least(j.at_once, j.items) + case when s.open_dependencies > 1 then ${HELD_TURNS} else 0 end, item_order = null
  from (
    select m.run_id, m.step, m.fence, m.definition_id, m.items, m.at_once, m.items_before, m.position, m.map_round, m.map_priority, ds.dependents[1] as join_step,
      'pending' as waiting_status,
      case when m.items = 0 and row_number() over (order by m.run_id, m.step) <= $12::int and exists (select from live_worker) then 1 end as leased_at
    from completed_maps m
    join belay.workflow_definition_steps ds on ds.definition_id = any (array[m.definition_id]) and ds.step = any (array[m.step])
    order by m.run_id, ds.dependents[1]
  ) j
  where s.run_id = any (array[j.run_id]) and ${stepIs('s', 'j.join_step')} and s.status = any (array[j.waiting_status])
  returning s.run_id, s.step, s.status, s.fence, ${claimedColumns}, s.priority, j.map_priority, j.step as map, j.definition_id, j.items, coalesce(j.at_once, j.items) as at_once,
    j.items_before, j.position, s.open_dependencies - j.items as held, j.map_round, j.fence as map_fence
),
-- A map that runs again decides its items anew.
removed_items as (
  delete from belay.workflow_steps s
  using waiting_joins w
  where s.run_id = any (array[w.run_id]) and s.step >= (w.map + 1) * ${FIRST_ITEM} and s.step < (w.map + 2) * ${FIRST_ITEM}
  returning s.run_id, s.fence, w.map
),
beginning_items as materialized (
  select b.*, greatest(0, least(b.beginning, b.room - (sum(b.beginning) over (order by b.run_id, b.map))::int + b.beginning)) as leased
  from (
    select w.run_id, w.map, w.definition_id, w.items, w.items_before, w.at_once, w.held, w.map_round, w.map_priority as priority, null as undo_of, w.position,
      case when w.held = 0 then least(w.at_once, w.items) else 0 end as beginning,
      -- Of a map that was claimed or moved before, the items show it too: a worker's cached payloads may be stale for them.
      greatest(w.map_fence - 1, (select max(o.fence) + 1 from removed_items o where o.run_id = w.run_id and o.map = w.map)) as fence,
      case when exists (select from live_worker) then $12::int - (select count(*)::int from waiting_joins j where j.status = 'running') else 0 end as room
    from waiting_joins w
  ) b
),
added_items as (
  insert into belay.workflow_steps (run_id, step, round, fence, open_dependencies, status, attempts, worker_id, started_at, item_key, item, priority)
  select b.run_id, (b.map + 1) * ${FIRST_ITEM} + i.index, b.map_round, case when i.index < b.leased then b.fence + 1 else b.fence end,
    case when i.index < b.at_once then 0 else 1 end,
    case when i.index < b.leased then 'running' when i.index < b.at_once then 'ready' else 'pending' end,
    case when i.index < b.leased then 1 else 0 end, case when i.index < b.leased then $1::uuid end,
    case when i.index < b.leased then belay.store_clock() end, i.key, i.value::json, b.priority
  from beginning_items b
  cross join lateral (
    select each.key, each.value, each.number::int - 1 as index
    from unnest(($9::text[])[b.items_before + 1 : b.items_before + b.items], ($10::text[])[b.items_before + 1 : b.items_before + b.items])
      with ordinality as each (key, value, number)
  ) i
),
-- From the counts, not from the rows: there may be thousands. Few are queued one by one, so that many workers can share them.
queued_items as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('b'))}, b.definition_id, (b.map + 1) * ${FIRST_ITEM} + n.index, b.fence, b.run_id
  from beginning_items b
  cross join lateral generate_series(b.leased, b.beginning - 1) as n (index)
  where b.beginning - b.leased < ${RANGE_ITEMS_MAX}
),
queued_ranges as (
  insert into belay.workflow_ready_items (available_at, definition_id, step, items, fence, run_id)
  select ${placeNow(leadOf('b'))}, b.definition_id, (b.map + 1) * ${FIRST_ITEM} + n.index, least(w.items, b.beginning - n.index), b.fence, b.run_id
  from beginning_items b
  cross join lateral (select least(${RANGE_ITEMS_MAX}, (b.beginning - b.leased) / ${RANGES_MIN}) as items) w
  cross join lateral generate_series(b.leased, b.beginning - 1, w.items) as n (index)
  where b.beginning - b.leased >= ${RANGE_ITEMS_MAX}
),
queued_joins as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('w'))}, w.definition_id, w.step, w.fence, w.run_id from waiting_joins w where w.status = 'ready'
)${keeping.rows}
select m.position::int as position, coalesce(b.beginning > b.leased or w.status = 'ready', false) as queued, coalesce(b.leased, 0) as leased,
  b.fence + 1 as item_fence, b.map_round as item_round, m.run_id, w.step, w.fence, coalesce(w.status = 'running', false) as joins,
  m.definition_id, w.round, w.attempt, w.failures, w.losses, w.undo_of
from completed_maps m
left join beginning_items b on b.position = m.position
left join waiting_joins w on w.position = m.position`
}

export type ExpandedOutcome = Extract<Outcome, { type: 'expanded' }>

export interface Expanded {
  /** Indexes of the outcomes that were recorded now. */
  readonly settled: readonly number[]
  readonly claims: readonly Claim[]
  readonly queued: boolean
}

export async function expand(
  connection: Connection,
  request: KeepsAttempts & {
    workerId: string
    outcomes: readonly ExpandedOutcome[]
    handBackMax: number
  },
): Promise<Expanded> {
  const { workerId, outcomes, handBackMax } = request
  const items = outcomes.flatMap((outcome) => outcome.items)
  const rows = await connection.query(request.keepAttempts ? keptExpandMaps : expandMaps, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map((outcome) => outcome.items.length),
    outcomes.map((outcome) => outcome.atOnce),
    itemsBefore(outcomes),
    items.map(({ key }) => key),
    items.map(({ value }) => value),
    sharedLockWait,
    handBackMax,
  ])
  return {
    settled: rows.map(({ position }) => position - 1),
    claims: rows.flatMap((row) => claimsOf(row, outcomes[row.position - 1]!)),
    queued: rows.some(({ queued }) => queued),
  }
}

/** For each map, how many items those before it have. */
function itemsBefore(outcomes: readonly ExpandedOutcome[]): readonly number[] {
  let before = 0
  return outcomes.map(({ items }) => {
    before += items.length
    return before - items.length
  })
}

/** The worker knows the items already, so the answer does not repeat them. */
function claimsOf(row: ExpandedRow, { runId, step, definitionId, items }: ExpandedOutcome): readonly Claim[] {
  if (row.joins) return [decodeClaim(row)]
  return items.slice(0, row.leased).map(
    (item: NewItem, index): Claim => ({
      runId,
      step: itemNumber(step, index),
      fence: row.item_fence,
      direction: 'forward',
      definitionId,
      round: row.item_round,
      attempt: 1,
      failures: 0,
      losses: 0,
      undoOf: null,
      item,
    }),
  )
}
