import { CIRCLE_LOOKS_MAX, type LimitCircle } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/** The most parents above one another that are looked at. */
const ANCESTORS_MAX = 100

/**
 * Steps that wait for slots which ancestors of their runs hold: the first of each limit, or those of one run. Index: waiting steps by line, primary
 * keys, slots by (limit, key, run, step). No locks.
 */
export const readCirclesOfLimits: Statement<{
  readonly run_id: string
  readonly step: number
  readonly limit_name: string
  readonly key: string
  readonly holder_id: string
}> = {
  name: 'read_limit_circles',
  text: `
with first_waiters as materialized (
  select w.run_id, w.step, w.fence, w.limit_name, w.key
  from belay.workflow_limits l
  cross join lateral (
    select x.run_id, x.step, x.fence, x.limit_name, x.key from belay.workflow_limit_waiters x
    where x.limit_name = any (array[l.name])
    order by x.limit_name, x.key, x.place
    limit $2::int
  ) w
  where $1::uuid is null
  union all
  select w.run_id, w.step, w.fence, w.limit_name, w.key from belay.workflow_limit_waiters w where w.run_id = $1::uuid
)
select w.run_id, w.step, w.limit_name, w.key, holder.id as holder_id
from first_waiters w
cross join lateral (
  with recursive ancestors as (
    select p.id, p.depth from (select w.run_id as id, 0 as depth) p
    union all
    select r.parent_run_id, a.depth + 1
    from ancestors a
    join belay.workflow_runs r on r.id = any (array[a.id])
    join belay.workflow_steps s on s.run_id = any (array[r.parent_run_id]) and ${stepIs('s', 'r.parent_step')}
    where r.parent_step is not null and s.status = any (array['ready', 'running', 'waiting']) and a.depth < ${ANCESTORS_MAX}
  )
  select a.id
  from ancestors a
  where a.depth > 0 and exists (
    select from belay.workflow_limit_slots s
    where s.limit_name = any (array[w.limit_name]) and s.key = any (array[w.key]) and s.run_id = any (array[a.id]) and s.step = -1
  )
  order by a.depth
  limit 1
) holder
where ${waitingStep('w')}
order by w.run_id, w.step`,
}

export async function readLimitCircles(
  connection: Connection,
  { runId }: { readonly runId?: string | undefined } = {},
): Promise<readonly LimitCircle[]> {
  const rows = await connection.query(readCirclesOfLimits, [runId ?? null, CIRCLE_LOOKS_MAX])
  return rows.map(({ run_id, step, limit_name, key, holder_id }) => ({
    runId: run_id,
    step,
    limit: limit_name,
    key,
    holderId: holder_id,
  }))
}
