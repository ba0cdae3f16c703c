import type { CollectedRun, NewCall } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * The runs that carry these calls, for calls that are known. Index: unique (call_id), then primary keys. No locks: it runs under the locks of the
 * calls' keys, so a call that was sent twice is found.
 */
export const findCalls: Statement<{
  readonly call_id: string
  readonly run_id: string
  readonly position: number
  readonly input_hash: string | null
  readonly definition_id: number
  readonly version: number
  readonly begins_at: number
  readonly due: boolean
}> = {
  name: 'find_calls',
  text: `
select k.call_id, k.run_id, k.position, k.input_hash, r.definition_id,
  (select d.version from belay.workflow_definitions d where d.id = r.definition_id) as version,
  (extract(epoch from coalesce(r.start_at, r.created_at)) * 1000)::float8 as begins_at,
  coalesce(r.start_at <= belay.store_now(), true) as due
from unnest($1::uuid[]) as asked (call_id)
join belay.workflow_collected_calls k on k.call_id = any (array[asked.call_id])
join belay.workflow_runs r on r.id = any (array[k.run_id])`,
}

/** By the ids of the calls that are known. */
export async function knownCalls(
  connection: Connection,
  calls: readonly NewCall[],
): Promise<ReadonlyMap<string, Omit<CollectedRun, 'input'>>> {
  const rows = await connection.query(findCalls, [calls.map(({ callId }) => callId)])
  return new Map(
    rows.map((row) => [
      row.call_id,
      {
        ...{ runId: row.run_id, definitionId: row.definition_id, version: row.version },
        ...{ inputHash: row.input_hash, created: false, repeated: true },
        ...{ position: row.position, beginsAt: row.begins_at, due: row.due },
      },
    ]),
  )
}
