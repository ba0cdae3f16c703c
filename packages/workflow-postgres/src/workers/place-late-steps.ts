import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import type { ClaimMarks, Found } from '../rows/claim-marks.ts'

/**
 * Gives queued steps that have become due the places of their priorities, by a second hint for each. Guarantee: the row that asks for it is deleted in
 * the same commit; a hint for a step that was claimed or moved meanwhile is stale. Index: by due time. Locks: those rows, skipping locked ones.
 */
export const placeLate: Statement<
  Pick<Found, 'scanned' | 'now'> & {
    readonly placed: number
    readonly first: number | null
    readonly mark: number | null
  }
> = {
  name: 'place_late_steps',
  text: `
with entries_before as materialized (
  select pg_stat_get_xact_tuples_returned(to_regclass('belay.workflow_ready_late_due_idx')) as entries
),
due_steps as materialized (
  select l.ctid as row_at
  from entries_before
  cross join belay.workflow_ready_late l
  where l.due_at <= belay.store_now() and l.due_at >= to_timestamp($2::float8)
  order by l.due_at
  limit $1::int
  for update of l skip locked
),
removed_steps as (
  delete from belay.workflow_ready_late l
  where l.ctid = any (array(select d.row_at from due_steps d))
  returning l.due_at, l.lead, l.definition_id, l.step, l.fence, l.run_id
),
placed_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select r.due_at - r.lead * interval '1 minute', r.definition_id, r.step, r.fence, r.run_id
  from removed_steps r
  returning 1
)
select r.placed, r.first, r.mark,
  (pg_stat_get_xact_tuples_returned(to_regclass('belay.workflow_ready_late_due_idx')) - (select b.entries from entries_before b))::float8 as scanned,
  extract(epoch from belay.store_now())::float8 as now
from (
  select count(*)::int as placed, extract(epoch from min(p.due_at))::float8 as first, extract(epoch from max(p.due_at))::float8 as mark
  from removed_steps p
) r`,
}

const BATCH = 1_000
const BATCHES_MAX = 10

/** The marks know the queues of definitions; the steps placed late are in one queue. */
const QUEUE = 0

/** A bounded number of them, which it resolves to: the others stay claimable at their due times, until a later sweep. */
export async function placeLateSteps(connection: Connection, marks: ClaimMarks): Promise<number> {
  let placed = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const look = marks.begin([QUEUE])
    const [row] = await connection.query(placeLate, [BATCH, look.since[0]])
    const isExhausted = row!.placed < BATCH
    const { first, mark, placed: dequeued } = row!
    const places = mark === null ? [] : [mark]
    look.end({
      ...{ ...row!, dequeued, isExhausted },
      ...{ definition_ids: places.map(() => QUEUE), marks: places, firsts: first === null ? [] : [first] },
    })
    placed += row!.placed
    if (isExhausted) break
  }
  return placed
}
