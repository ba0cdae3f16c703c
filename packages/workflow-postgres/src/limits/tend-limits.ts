import type { Adapter, TendedLimits } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
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

type TendRequest = Parameters<Adapter['tendLimits']>[0]

export async function tendLimits(connection: Connection, request: TendRequest): Promise<TendedLimits> {
  const { after, limit, unclaimedMs, allSlots = true } = request
  try {
    const values = [after?.limit ?? null, after?.key ?? null, limit, unclaimedMs, allSlots]
    const [row] = await connection.query(tendLimitLines, values)
    const { queued, limit_name: name, key } = row!
    return { queued, after: name === null ? null : { limit: name, key: key! } }
  } catch (error) {
    // Somebody else decides about one of these keys. The next look comes soon.
    if (isLockTimeout(error)) return { queued: false, after }
    if (!isOfStatement(error)) throw error
    return tendApart(connection, request)
  }
}

/** The line after this one. Index: waiting steps by line. No locks. */
export const findLimitLine: Statement<{ readonly limit_name: string; readonly key: string }> = {
  name: 'find_limit_line',
  text: `
select w.limit_name, w.key from belay.workflow_limit_waiters w
where (w.limit_name, w.key) > ($1::text, $2::text)
order by w.limit_name, w.key
limit 1`,
}

/** So many lines are looked at one by one. */
const APART_MAX = 100
/** If the database refuses so many lines and accepts none, none of them is the reason. */
const REFUSED_MAX = 8

/** Looks at one line after the other, and leaves out those that the database refuses. */
async function tendApart(
  connection: Connection,
  { onRefused, ...request }: TendRequest,
): Promise<TendedLimits> {
  let { after } = request
  let [queued, tended, refused] = [false, 0, 0]
  for (let line = 0; line < Math.min(request.limit, APART_MAX); line += 1) {
    try {
      const one = await tendLine(connection, { ...request, after })
      tended += 1
      queued ||= one.queued
      if (one.after === null) return { queued, after: null }
      after = one.after
    } catch (error) {
      if (!isOfStatement(error)) throw error
      refused += 1
      if (refused === REFUSED_MAX && tended === 0) throw error
      const [bad] = await connection.query(findLimitLine, [after?.limit ?? '', after?.key ?? ''])
      if (bad === undefined) return { queued, after: null }
      after = { limit: bad.limit_name, key: bad.key }
      if (!isLockTimeout(error)) onRefused?.({ ...after, error })
    }
  }
  return { queued, after }
}

async function tendLine(connection: Connection, { after, unclaimedMs }: TendRequest): Promise<TendedLimits> {
  const [row] = await connection.query(tendLimitLines, [
    after?.limit ?? null,
    after?.key ?? null,
    1,
    unclaimedMs,
    false,
  ])
  const { queued, limit_name: name, key } = row!
  return { queued, after: name === null ? null : { limit: name, key: key! } }
}
