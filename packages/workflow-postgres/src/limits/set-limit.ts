import type { Adapter, LimitNumbers } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { numbersIn, readLimitValues } from './read-limits.ts'

/**
 * Sets how many slots each key of a limit has, or with null goes back to what is declared. Guarantee: one row is written, however many wait: keys follow
 * when they are used or tended next. Index: primary key. Locks: the limit, for 5 s at most.
 */
export const setLimitNumber: Statement<{ readonly set: boolean }> = {
  name: 'set_limit',
  text: `
select true as set from belay.set_limit($1::text, $2::int, $3::float8, $4::int)`,
}

export async function setLimit(
  connection: Connection,
  { name, concurrency, rate }: Parameters<Adapter['setLimit']>[0],
): Promise<LimitNumbers | null> {
  await connection.query(setLimitNumber, [name, concurrency, rate?.perMs ?? null, rate?.burst ?? null])
  const [limit] = await connection.query(readLimitValues, [[name]])
  return limit === undefined ? null : numbersIn(limit)
}
