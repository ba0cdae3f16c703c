import type { LimitNumbers, LimitRecord, RateSpan } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { waitingStep } from '../rows/waiting-step.ts'

/** The numbers of a limit as they are stored. */
export interface StoredNumbers {
  readonly name: string
  readonly concurrency: number
  readonly declared: number | null
  readonly set_to: number | null
  readonly declared_per_ms: number | null
  readonly declared_burst: number | null
  readonly set_per_ms: number | null
  readonly set_burst: number | null
}

export const limitNumbers = `l.name, coalesce(l.set_to, l.declared) as concurrency, l.declared, l.set_to,
  l.declared_per_ms, l.declared_burst, l.set_per_ms, l.set_burst`

/** Limits with their use, by name. Index: primary keys, waiting steps by line. No locks. */
export const readLimitNumbers: Statement<
  StoredNumbers & { readonly closed_ms: number | null; readonly in_use: number; readonly waiting: number }
> = {
  name: 'read_limits',
  text: `
select ${limitNumbers},
  (
    select max(k.closed_ms) from belay.workflow_limit_keys k where k.limit_name = any (array[l.name]) and k.closed_ms > belay.store_ms()
  ) as closed_ms,
  (select count(*)::int from belay.workflow_limit_slots s where s.limit_name = any (array[l.name])) as in_use,
  (
    select count(*)::int from belay.workflow_limit_waiters w
    where w.limit_name = any (array[l.name]) and w.called_ms is null and ${waitingStep('w')}
  ) as waiting
from belay.workflow_limits l
where $1::text[] is null or l.name = any ($1::text[])
order by l.name`,
}

/** A limit without its use. Index: primary key. No locks. */
export const readLimitValues: Statement<StoredNumbers> = {
  name: 'read_limit_values',
  text: `
select ${limitNumbers}
from belay.workflow_limits l
where $1::text[] is null or l.name = any ($1::text[])
order by l.name`,
}

export async function readLimits(
  connection: Connection,
  names?: readonly string[],
  { uncounted = false }: { readonly uncounted?: boolean } = {},
): Promise<readonly LimitRecord[]> {
  if (uncounted) {
    const rows = await connection.query(readLimitValues, [names ?? null])
    return rows.map((row) => ({ ...numbersIn(row), pushedBackUntil: null, inUse: 0, waiting: 0 }))
  }
  const rows = await connection.query(readLimitNumbers, [names ?? null])
  return rows.map(({ closed_ms: closed, in_use: inUse, waiting, ...row }) => ({
    ...numbersIn(row),
    pushedBackUntil: closed === null ? null : Math.round(closed),
    inUse,
    waiting,
  }))
}

export function numbersIn({ name, concurrency, declared, set_to: set, ...row }: StoredNumbers): LimitNumbers {
  const declaredRate = rateIn(row.declared_per_ms, row.declared_burst)
  const setRate = set === null ? null : rateIn(row.set_per_ms, row.set_burst)
  const rate = set === null ? declaredRate : setRate
  return { name, concurrency, declared, set, declaredRate, setRate, rate }
}

/** The time and burst of a rate; null for a limit that is none. */
export function rateIn(perMs: number | null, burst: number | null): RateSpan | null {
  return perMs === null ? null : { perMs, burst: burst! }
}
