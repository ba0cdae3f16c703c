import type { LimitLineUse } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/** The keys of a limit, the longest lines first. Reads all slots and waiting steps of the limit. Index: primary keys, waiting steps by line. No locks. */
export const readLinesOfLimit: Statement<{
  readonly key: string
  readonly in_use: number
  readonly waiting: number
  readonly run_id: string | null
  readonly since: number | null
}> = {
  name: 'read_limit_lines',
  text: `
with waits as (
  select w.key, count(*)::int as waiting, min(w.place) as place
  from belay.workflow_limit_waiters w
  where w.limit_name = any (array[$1::text]) and ${waitingStep('w')}
  group by w.key
),
uses as (
  select s.key, count(*)::int as in_use from belay.workflow_limit_slots s where s.limit_name = any (array[$1::text]) group by s.key
),
lines as (
  select coalesce(w.key, u.key) as key, coalesce(u.in_use, 0) as in_use, coalesce(w.waiting, 0) as waiting, w.place
  from waits w full join uses u on u.key = w.key
  order by waiting desc, in_use desc, key
  limit $2::int
)
select l.key, l.in_use, l.waiting, f.run_id, extract(epoch from f.since)::float8 * 1000 as since
from lines l
left join belay.workflow_limit_waiters f
  on f.limit_name = any (array[$1::text]) and f.key = any (array[l.key]) and f.place = any (array[l.place])
order by l.waiting desc, l.in_use desc, l.key`,
}

export async function readLimitLines(
  connection: Connection,
  { limit, max }: { readonly limit: string; readonly max: number },
): Promise<readonly LimitLineUse[]> {
  const rows = await connection.query(readLinesOfLimit, [limit, max])
  return rows.map(({ key, in_use: inUse, waiting, run_id: runId, since }) => ({
    ...{ key, inUse, waiting },
    first: runId === null || since === null ? null : { runId, since: Math.round(since) },
  }))
}
