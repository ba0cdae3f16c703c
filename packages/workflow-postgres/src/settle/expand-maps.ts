import type { KeepsAttempts, Outcome } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM } from '../rows/item-rows.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'

/**
 * Records maps that decided their items, and adds the items as rows. Guarantee: all of it commits together; an attempt that no longer holds its step
 * adds nothing; a map whose join was cancelled, because its run is stopping, completes without items. Items that have to wait for their turn have one
 * open dependency; in a paused run, whose join shows one more, each item has one more too. Index: primary keys. Locks: own steps, then the joins, each
 * by (run, step).
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

interface ExpandedRow {
  readonly position: number
  readonly queued: boolean
}

function expandText(keeping: Keeping): string {
  return `
with ${boundedLockWait('$11')},
expanded_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.items, a.at_once, a.position, $1::uuid as worker_id, 'running' as leased_status
  from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
    with ordinality as a (run_id, step, fence, definition_id, items, at_once, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  order by a.run_id, a.step
),
completed_maps as (
  update belay.workflow_steps s
  set status = 'completed', output = to_json(a.items), finished_at = belay.store_now()
  from expanded_attempts a
  where s.run_id = any (array[a.run_id]) and s.step = any (array[a.step]) and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.definition_id, a.items, a.at_once, a.position, s.round as map_round${keeping.columns}
),
-- The join waited for its map alone, and in a paused run for the resumption.
waiting_joins as (
  update belay.workflow_steps s
  set open_dependencies = s.open_dependencies + j.items - 1,
    status = case when s.open_dependencies + j.items = 1 then 'ready' else s.status end,
    at_once = j.at_once, next_item = least(j.at_once, j.items)
  from (
    select m.run_id, m.step, m.definition_id, m.items, m.at_once, m.position, m.map_round, ds.dependents[1] as join_step, 'pending' as waiting_status
    from completed_maps m
    join belay.workflow_definition_steps ds on ds.definition_id = any (array[m.definition_id]) and ds.step = any (array[m.step])
    order by m.run_id, ds.dependents[1]
  ) j
  where s.run_id = any (array[j.run_id]) and s.step = any (array[j.join_step]) and s.status = any (array[j.waiting_status])
  returning s.run_id, s.step, s.status, s.fence, j.step as map, j.definition_id, j.items, coalesce(j.at_once, j.items) as at_once,
    j.position, s.open_dependencies - j.items as held, j.map_round
),
-- A map that runs again decides its items anew.
removed_items as (
  delete from belay.workflow_steps s
  using waiting_joins w
  where s.run_id = any (array[w.run_id]) and s.step >= (w.map + 1) * ${FIRST_ITEM} and s.step < (w.map + 2) * ${FIRST_ITEM}
  returning s.run_id, s.step, s.fence
),
added_items as (
  insert into belay.workflow_steps (run_id, step, round, fence, open_dependencies, status, item_key, item)
  select w.run_id, i.step, w.map_round, coalesce(o.fence + 1, 0), w.held + (i.index >= w.at_once)::int,
    case when w.held = 0 and i.index < w.at_once then 'ready' else 'pending' end, i.key, i.value::json
  from waiting_joins w
  join lateral (
    select (w.map + 1) * ${FIRST_ITEM} + each.index as step, each.index, each.key, each.value
    from unnest($8::int[], $9::text[], $10::text[], $12::int[]) as each (position, key, value, index)
    where each.position = any (array[w.position])
  ) i on true
  left join removed_items o on o.run_id = w.run_id and o.step = i.step
  returning run_id, step, status, fence
),
queued_rows as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select belay.store_now(), w.definition_id, ready.step, ready.fence, ready.run_id
  from (
    select a.run_id, a.step, a.fence, (a.step >> 16) - 1 as map from added_items a where a.status = 'ready'
    union all
    select j.run_id, j.step, j.fence, j.map from waiting_joins j where j.status = 'ready'
  ) ready
  join waiting_joins w on w.run_id = any (array[ready.run_id]) and w.map = any (array[ready.map])
)${keeping.rows}
select m.position::int as position, exists (select from waiting_joins) as queued from completed_maps m`
}

export type ExpandedOutcome = Extract<Outcome, { type: 'expanded' }>

export async function expand(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly ExpandedOutcome[] },
): Promise<{ readonly settled: readonly number[]; readonly queued: boolean }> {
  const { workerId, outcomes } = request
  const items = outcomes.flatMap((outcome, position) =>
    outcome.items.map((item, index) => ({ ...item, index, position: position + 1 })),
  )
  const rows = await connection.query(request.keepAttempts ? keptExpandMaps : expandMaps, [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    outcomes.map((outcome) => outcome.fence),
    outcomes.map((outcome) => outcome.definitionId),
    outcomes.map((outcome) => outcome.items.length),
    outcomes.map((outcome) => outcome.atOnce),
    items.map(({ position }) => position),
    items.map(({ key }) => key),
    items.map(({ value }) => value),
    sharedLockWait,
    items.map(({ index }) => index),
  ])
  return { settled: rows.map(({ position }) => position - 1), queued: rows.some(({ queued }) => queued) }
}
