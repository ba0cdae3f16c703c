import type { LimitRecord } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { readLimits } from './read-limits.ts'

/** To how many keys a call gives the slots that a higher number brings. Whoever tends the limits follows with the others. */
const LINES_MAX = 1_000

/**
 * Sets how many slots each key of a limit has, or with null goes back to what is declared, and gives free slots to steps that wait. Guarantee: the
 * number and the slots commit together. Index: primary keys, waiting steps by line. Locks: the limit, then keys by (limit, key), for 5 s at most.
 */
export const setLimitNumber: Statement<{ readonly queued: boolean }> = {
  name: 'set_limit',
  text: `
select belay.set_limit($1::text, $2::int, $3::int) as queued`,
}

export async function setLimit(
  connection: Connection,
  { name, concurrency }: { readonly name: string; readonly concurrency: number | null },
): Promise<LimitRecord | null> {
  await connection.query(setLimitNumber, [name, concurrency, LINES_MAX])
  const [limit] = await readLimits(connection, [name])
  return limit ?? null
}
