import type { LimitWait } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { waitingStep } from './waiting-step.ts'

/** The steps of a run that wait for slots. Index: primary keys, waiting steps by line. No locks. */
export const readWaitsOfRun: Statement<{
  readonly step: number
  readonly limit_name: string
  readonly key: string
  readonly place: number
  readonly since: number
  readonly concurrency: number | null
  readonly in_use: number
}> = {
  name: 'read_limit_waits',
  text: `
select w.step, w.limit_name, w.key, extract(epoch from w.since)::float8 * 1000 as since, coalesce(l.set_to, l.declared) as concurrency,
  (
    select count(*)::int from belay.workflow_limit_waiters b
    where b.limit_name = any (array[w.limit_name]) and b.key = any (array[w.key]) and b.place <= w.place and ${waitingStep('b')}
  ) as place,
  (
    select count(*)::int from belay.workflow_limit_slots s where s.limit_name = any (array[w.limit_name]) and s.key = any (array[w.key])
  ) as in_use
from belay.workflow_limit_waiters w
left join belay.workflow_limits l on l.name = any (array[w.limit_name])
where w.run_id = $1::uuid and ${waitingStep('w')}
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
  }))
}
