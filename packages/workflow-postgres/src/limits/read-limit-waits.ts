import type { LimitWait } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { timedStep, waitingStep } from '../rows/waiting-step.ts'
import { rateIn } from './read-limits.ts'

/** The steps of a run that wait for slots. Index: primary keys, waiting steps by line. No locks. */
export const readWaitsOfRun: Statement<{
  readonly step: number
  readonly limit_name: string
  readonly key: string
  readonly place: number
  readonly since: number
  readonly concurrency: number | null
  readonly in_use: number
  readonly per_ms: number | null
  readonly burst: number | null
  readonly at_ms: number | null
}> = {
  name: 'read_limit_waits',
  text: `
with waits as (
  select w.step, w.limit_name, w.key, w.since, w.place, null::float8 as at_ms
  from belay.workflow_limit_waiters w
  where w.run_id = $1::uuid and w.called_ms is null and ${waitingStep('w')}
  union all
  (
    select distinct on (s.step) s.step, s.limit_name, s.key, s.since, 0, s.at_ms
    from belay.workflow_limit_slots s
    where s.run_id = $1::uuid and s.is_given and s.at_ms > belay.store_ms() and ${timedStep('s')}
    order by s.step, s.at_ms desc
  )
)
select w.step, w.limit_name, w.key, extract(epoch from w.since)::float8 * 1000 as since, coalesce(l.set_to, l.declared) as concurrency,
  case when l.set_to is null then l.declared_per_ms else l.set_per_ms end as per_ms,
  case when l.set_to is null then l.declared_burst else l.set_burst end as burst, w.at_ms,
  (
    select count(*)::int from belay.workflow_limit_waiters b
    where b.limit_name = any (array[w.limit_name]) and b.key = any (array[w.key]) and b.place <= w.place and b.called_ms is null and ${waitingStep('b')}
  ) as place,
  (
    select count(*)::int from belay.workflow_limit_slots s where s.limit_name = any (array[w.limit_name]) and s.key = any (array[w.key])
  ) as in_use
from waits w
left join belay.workflow_limits l on l.name = any (array[w.limit_name])
order by w.step`,
}

export async function readLimitWaits(connection: Connection, runId: string): Promise<readonly LimitWait[]> {
  const rows = await connection.query(readWaitsOfRun, [runId])
  return rows.map((row) => ({
    step: row.step,
    limit: row.limit_name,
    key: row.key,
    place: row.place,
    since: Math.round(row.since),
    concurrency: row.concurrency ?? Number.POSITIVE_INFINITY,
    inUse: row.in_use,
    rate: rateIn(row.per_ms, row.burst),
    at: row.at_ms === null ? null : Math.round(row.at_ms),
  }))
}
