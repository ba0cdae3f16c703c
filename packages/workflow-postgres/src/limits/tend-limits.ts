import type { Adapter, TendedLimits } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Calls steps whose turn has come, and frees slots whose holder is gone. Guarantee: a slot that somebody holds stays. Index: keys by when they are due, and
 * by limit; slots and waiting steps by line: it reads the slots of the lines it looks at, and of those who wait only the heads. Locks: keys by (limit,
 * key) that nobody else has locked.
 */
export const tendLimitLines: Statement<{
  readonly queued: boolean
  readonly limit_name: string | null
  readonly key: string | null
  /** Why this line was not looked at. */
  readonly refused: string | null
}> = {
  name: 'tend_limits',
  text: `
select t.queued, t.limit_name, t.key, t.refused from belay.tend_limits($1::text, $2::text, $3::int, $4::bool, $5::bool) t`,
}

type TendRequest = Parameters<Adapter['tendLimits']>[0]

export async function tendLimits(connection: Connection, request: TendRequest): Promise<TendedLimits> {
  const { after } = request
  try {
    return await tend(connection, request, { apart: false })
  } catch (error) {
    // Somebody has locked a whole table. The next look comes soon.
    if (isLockTimeout(error)) return { queued: false, after }
    if (!isOfStatement(error)) throw error
    return tend(connection, request, { apart: true })
  }
}

/** `apart`: lines that the database refuses keep no others waiting. */
async function tend(
  connection: Connection,
  { after, limit, allSlots = true, onRefused }: TendRequest,
  { apart }: { readonly apart: boolean },
): Promise<TendedLimits> {
  const values = [after?.limit ?? null, after?.key ?? null, limit, allSlots, apart]
  const rows = await connection.query(tendLimitLines, values)
  for (const { limit_name: name, key, refused } of rows)
    if (refused !== null) onRefused?.({ limit: name!, key: key!, error: new Error(refused) })
  const { queued, limit_name: name, key } = rows.at(-1)!
  return { queued, after: name === null ? null : { limit: name, key: key! } }
}
