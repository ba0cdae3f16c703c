import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Gives queued steps that have become due the places of their priorities, by a second hint for each. Guarantee: the row that asks for it is deleted in
 * the same commit; a hint for a step that was claimed or moved meanwhile is stale. Index: by due time. Locks: those rows, skipping locked ones.
 */
export const placeLate: Statement<{ readonly placed: number }> = {
  name: 'place_late_steps',
  text: `
with due_steps as materialized (
  select l.ctid as row_at
  from belay.workflow_ready_late l
  where l.due_at <= belay.store_now()
  order by l.due_at
  limit $1::int
  for update skip locked
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
select count(*)::int as placed from placed_steps`,
}

const BATCH = 1_000
const BATCHES_MAX = 10

/** A bounded number of them, which it resolves to: the others stay claimable at their due times, until a later sweep. */
export async function placeLateSteps(connection: Connection): Promise<number> {
  let placed = 0
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const [row] = await connection.query(placeLate, [BATCH])
    placed += row!.placed
    if (row!.placed < BATCH) break
  }
  return placed
}
