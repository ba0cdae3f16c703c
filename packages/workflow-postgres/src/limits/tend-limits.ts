import type { LimitLine, TendedLimits } from '@belay/workflow/adapter'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Frees slots whose holder is gone, and gives free slots to steps that wait. Guarantee: a slot that somebody holds stays. Index: primary keys, slots
 * and waiting steps by line: it reads the slots of the lines it looks at, and of those who wait only the heads. Locks: keys by (limit, key), for half a second at most.
 */
export const tendLimitLines: Statement<{
  readonly queued: boolean
  readonly limit_name: string | null
  readonly key: string | null
}> = {
  name: 'tend_limits',
  text: `
select t.queued, t.limit_name, t.key from belay.tend_limits($1::text, $2::text, $3::int, $4::float8, $5::bool) t`,
}

export async function tendLimits(
  connection: Connection,
  request: {
    readonly after: LimitLine | null
    readonly limit: number
    readonly unclaimedMs: number
    readonly allSlots?: boolean
  },
): Promise<TendedLimits> {
  const { after, limit, unclaimedMs, allSlots = true } = request
  try {
    const values = [after?.limit ?? null, after?.key ?? null, limit, unclaimedMs, allSlots]
    const [row] = await connection.query(tendLimitLines, values)
    const { queued, limit_name: name, key } = row!
    return { queued, after: name === null ? null : { limit: name, key: key! } }
  } catch (error) {
    // Somebody else decides about one of these keys. The next look comes soon.
    if (isLockTimeout(error)) return { queued: false, after }
    throw error
  }
}
