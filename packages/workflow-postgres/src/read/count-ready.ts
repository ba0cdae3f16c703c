import type { ReadyCount } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { RANGE_ITEMS_MAX } from '../rows/item-rows.ts'
import { readySince } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * What workers could claim now, up to a limit: of each definition the first entries of the queue, and of all these the first. An entry counts if the rows
 * of its step and run confirm it. Index: both queues by (definition, available_at), steps and runs by primary key. No locks.
 */
export const countReadyStatement: Statement<{
  readonly at: number
  readonly looked: number
  readonly steps: number
  readonly oldest_due_at: number | null
}> = {
  name: 'count_ready',
  text: `
with first_entries as materialized (
  select q.available_at, q.run_id, q.step, q.fence
  from belay.workflow_definitions d
  cross join lateral (
    (select r.available_at, r.run_id, r.step, r.fence
    from belay.workflow_ready r
    where r.definition_id = d.id and r.available_at <= belay.store_now()
    order by r.available_at
    -- One more tells whether there are others.
    limit $1::int + 1)
    union all
    (select i.available_at, i.run_id, i.step + each.number, i.fence
    from (
      select h.available_at, h.run_id, h.step, h.fence, least(greatest(h.items, 1), ${RANGE_ITEMS_MAX}) as items
      from belay.workflow_ready_items h
      where h.definition_id = d.id and h.available_at <= belay.store_now()
      order by h.available_at
      limit $1::int + 1
    ) i
    cross join lateral generate_series(0, i.items - 1) as each (number)
    limit $1::int + 1)
  ) q
  order by q.available_at
  limit $1::int + 1
),
ready_steps as (
  -- A step may have several entries.
  select distinct e.run_id, e.step, ${readySince('s', 'e.available_at')} as ready_at
  from first_entries e
  -- Each limit keeps a lookup from being planned as a join, which would read all rows of the table.
  cross join lateral (
    select r.status from belay.workflow_runs r where r.id = any (array[e.run_id]) limit 1
  ) run
  cross join lateral (
    select o.available_at, o.fence, o.open_dependencies, o.worker_id, o.status, o.undo_of, o.priority
    from belay.workflow_steps o where o.run_id = any (array[e.run_id]) and ${stepIs('o', 'e.step')} limit 1
  ) s
  where s.fence = e.fence and s.open_dependencies = 0 and s.worker_id is null
    and case when run.status = 'running' then s.status in ('ready', 'waiting')
      when run.status in ('compensating', 'compensation_failed') then s.status = 'compensating' end
)
select (extract(epoch from belay.store_now()) * 1000)::float8 as at, (select count(*)::int from first_entries) as looked,
  count(distinct (r.run_id, r.step))::int as steps, (extract(epoch from min(r.ready_at)) * 1000)::float8 as oldest_due_at
from ready_steps r`,
}

export async function countReady(
  connection: Connection,
  { max }: { readonly max: number },
): Promise<ReadyCount> {
  const [row] = await connection.query(countReadyStatement, [max])
  const { at, looked, steps, oldest_due_at: oldestDueAt } = row!
  return { at, steps: Math.min(steps, max), capped: looked > max, oldestDueAt }
}
