import type { LimitRecord } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { waitingStep } from './waiting-step.ts'

/** Limits with their use, by name. Index: primary keys, waiting steps by line. No locks. */
export const readLimitNumbers: Statement<{
  readonly name: string
  readonly concurrency: number
  readonly declared: number | null
  readonly set_to: number | null
  readonly in_use: number
  readonly waiting: number
}> = {
  name: 'read_limits',
  text: `
select l.name, coalesce(l.set_to, l.declared) as concurrency, l.declared, l.set_to,
  (select count(*)::int from belay.workflow_limit_slots s where s.limit_name = any (array[l.name])) as in_use,
  (select count(*)::int from belay.workflow_limit_waiters w where w.limit_name = any (array[l.name]) and ${waitingStep('w')}) as waiting
from belay.workflow_limits l
where $1::text[] is null or l.name = any ($1::text[])
order by l.name`,
}

export async function readLimits(
  connection: Connection,
  names?: readonly string[],
): Promise<readonly LimitRecord[]> {
  const rows = await connection.query(readLimitNumbers, [names ?? null])
  return rows.map(({ name, concurrency, declared, set_to: set, in_use: inUse, waiting }) => ({
    ...{ name, concurrency, declared, set, inUse, waiting },
  }))
}
