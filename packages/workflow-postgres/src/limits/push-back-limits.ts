import type { LimitLine } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Lets nobody enter these keys for so long. Guarantee: a later instant stays; what has entered goes on. Index: primary keys. Locks: keys by
 * (limit, key), for half a second at most.
 */
export const pushBackLimitKeys: Statement<{ readonly pushed: boolean }> = {
  name: 'push_back_limits',
  text: `
select true as pushed from belay.push_back_limits($1::text[], $2::text[], $3::float8)`,
}

export async function pushBackLimits(
  connection: Connection,
  { lines, afterMs }: { readonly lines: readonly LimitLine[]; readonly afterMs: number },
): Promise<void> {
  const values = [lines.map(({ limit }) => limit), lines.map(({ key }) => key), afterMs]
  await connection.query(pushBackLimitKeys, values)
}
