import type { Adapter, OlderRun } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { hasPassedPivot } from '../rows/passed-pivots.ts'
import { goesForward } from '../rows/run-statuses.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/**
 * Runs that are older than as many others of their key as its limit has slots. Guarantee: as many newer runs have, had or wanted a slot. Index: primary
 * keys, slots and waiting steps by line: it reads both of each key that it is asked about. No locks.
 */
export const findOlderRunsStatement: Statement<{
  readonly limit_name: string
  readonly key: string
  readonly run_id: string
  readonly newer_run_id: string
}> = {
  name: 'find_older_runs',
  text: `
with asked as materialized (
  select a.limit_name, a.key
  from unnest($1::text[], $2::text[]) as a (limit_name, key)
  where not exists (
    select from belay.workflow_limits l
    where l.name = any (array[a.limit_name]) and case when l.set_to is null then l.declared_per_ms else l.set_per_ms end is not null
  )
),
-- Not joins: these may be planned as one of the whole table.
parked_steps as materialized (
  select w.*
  from asked a
  cross join lateral (
    select o.limit_name, o.key, o.run_id, o.step, o.fence, o.limits, o.of_run from belay.workflow_limit_waiters o
    where o.limit_name = any (array[a.limit_name]) and o.key = any (array[a.key])
  ) w
  where a.key is not null
  union
  select w.*
  from asked a
  cross join lateral (
    select o.limit_name, o.key, o.run_id, o.step, o.fence, o.limits, o.of_run from belay.workflow_limit_waiters o
    where o.limit_name = any (array[a.limit_name])
  ) w
  where a.key is null
),
waiting_runs as materialized (
  select distinct w.limit_name, w.key, w.run_id
  from parked_steps w
  where exists (select from unnest(w.limits, w.of_run) as e (limit_name, of_run) where e.of_run and e.limit_name = w.limit_name)
    and ${waitingStep('w')}
),
wanting_runs as materialized (
  select w.limit_name, w.key, w.run_id from waiting_runs w
  union
  select l.limit_name, l.key, s.run_id
  from (select distinct w.limit_name, w.key from waiting_runs w) l
  cross join lateral (
    select o.run_id from belay.workflow_limit_slots o
    where o.limit_name = any (array[l.limit_name]) and o.key = any (array[l.key]) and o.step = -1
  ) s
),
ranked_runs as materialized (
  select w.limit_name, w.key, r.id, r.definition_id, 'completed' as passed_status,
    row_number() over newest_first as nth, first_value(r.id) over newest_first as newest
  from wanting_runs w
  join belay.workflow_runs r on r.id = any (array[w.run_id])
  where ${goesForward('r')}
  window newest_first as (partition by w.limit_name, w.key order by r.created_at desc, r.id desc)
)
select r.limit_name, r.key, r.id as run_id, r.newest as newer_run_id
from ranked_runs r
left join belay.workflow_limits l on l.name = any (array[r.limit_name])
where r.nth > greatest(1, coalesce(l.set_to, l.declared, 2147483647)) and not ${hasPassedPivot({ run: 'r', completed: 'r.passed_status' })}
order by r.limit_name collate "C", r.key collate "C", r.id
limit $3::int`,
}

export async function findOlderRuns(
  connection: Connection,
  { lines, limit }: Parameters<Adapter['findOlderRuns']>[0],
): Promise<readonly OlderRun[]> {
  const values = [lines.map((line) => line.limit), lines.map(({ key }) => key), limit]
  const rows = await connection.query(findOlderRunsStatement, values)
  return rows.map((row) => ({
    limit: row.limit_name,
    key: row.key,
    runId: row.run_id,
    newerRunId: row.newer_run_id,
  }))
}
