import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { ends } from '../rows/run-statuses.ts'
import { isNotSought } from './sought-runs.ts'

/**
 * Takes the keys from ended runs. Guarantee: only from runs that ended before the given instant; it never waits for a lock. Index: primary key.
 * Locks: runs, skipping locked ones.
 */
export const releaseRunKeys: Statement<{ readonly run_id: string }> = {
  name: 'release_run_keys',
  text: `
with asked_runs as materialized (
  select run_id, timestamptz 'epoch' + $2::float8 * interval '1 millisecond' as ended_before,
    array[${ends}] as ends
  from unnest($1::uuid[]) as asked (run_id)
),
ended_runs as materialized (
  select r.id
  from asked_runs a
  join belay.workflow_runs r on r.id = any (array[a.run_id])
  where r.finished_at < a.ended_before and r.status = any (a.ends) and case when a.ends is not null then r.key is not null end
    and ${isNotSought}
  order by a.run_id
  for no key update of r skip locked
)
update belay.workflow_runs r
set key = null
from ended_runs e
where r.id = any (array[e.id])
returning r.id as run_id`,
}

export async function releaseKeys(
  connection: Connection,
  request: { runIds: readonly string[]; finishedBefore: number },
): Promise<readonly string[]> {
  const runIds = [...new Set(request.runIds.filter(isUuid))]
  if (runIds.length === 0) return []
  const rows = await connection.query(releaseRunKeys, [runIds, request.finishedBefore])
  return rows.map((row) => row.run_id)
}
