import type { ObservedRun, ValueRecord } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { isHeartbeatKey } from '../rows/heartbeat-keys.ts'
import { decodeValues, shownValues } from '../rows/shown-values.ts'
import { stepsPrint } from '../rows/steps-print.ts'

/** A run's values as watchers see them. Index: primary keys. No locks. */
export const readRunValues: Statement<{ readonly shown_values: string }> = {
  name: 'read_run_values',
  text: `
select ${shownValues('r')} as shown_values
from belay.workflow_runs r
where r.id = $1::uuid`,
}

/**
 * For each run its status, and two fingerprints: of its steps and of its values. Reads narrow columns only, so that watching many runs is cheap. Index:
 * primary keys. No locks.
 */
export const observeRunsStatement: Statement<{
  readonly run_id: string
  readonly status: ObservedRun['status']
  readonly steps: string
  readonly values: string
}> = {
  name: 'observe_runs',
  text: `
select r.id as run_id, belay.shown_status(r.id, r.status, r.start_at) as status,
  (
    select ${stepsPrint('s')}
    from belay.workflow_steps s
    where s.run_id = any (array[r.id])
  ) as steps,
  coalesce((
    select hashtextextended(string_agg(concat_ws(':', v.step, v.key, v.fence, v.sequence), ',' order by v.step, v.key), 0)::text
    from belay.workflow_values v
    where v.run_id = any (array[r.id]) and not ${isHeartbeatKey('v.key')}
  ), '') as values
from unnest($1::uuid[]) as watched (run_id)
join belay.workflow_runs r on r.id = any (array[watched.run_id])`,
}

export async function readValues(
  connection: Connection,
  runId: string,
): Promise<readonly ValueRecord[] | null> {
  if (!isUuid(runId)) return null
  const [row] = await connection.query(readRunValues, [runId])
  return row === undefined ? null : decodeValues(row.shown_values)
}

export async function observeRuns(
  connection: Connection,
  runIds: readonly string[],
): Promise<readonly ObservedRun[]> {
  const known = [...new Set(runIds.filter(isUuid))]
  if (known.length === 0) return []
  const rows = await connection.query(observeRunsStatement, [known])
  return rows.map(({ run_id: runId, status, steps, values }) => ({ runId, status, steps, values }))
}
