import type { HeartbeatRecord, PayloadRequest } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { stepIs } from '../rows/step-lookup.ts'

/** Details of heartbeats. Index: primary key. No locks. */
export const readHeartbeatDetails: Statement<HeartbeatRecord & { readonly run_id: string }> = {
  name: 'read_heartbeat_details',
  text: `
select v.run_id, v.step, v.key, v.value::text as value
from unnest($1::uuid[], $2::int[], $3::text[]) as wanted (run_id, step, key)
join belay.workflow_values v
  on v.run_id = any (array[wanted.run_id]) and ${stepIs('v', 'wanted.step')} and v.key = any (array[wanted.key])`,
}

/** The heartbeats that these requests ask for, by run. Most ask for none: then nothing is read. */
export async function readHeartbeats(
  connection: Connection,
  requests: readonly PayloadRequest[],
): Promise<ReadonlyMap<string, readonly HeartbeatRecord[]>> {
  const wanted = requests.flatMap(({ runId, heartbeats = [] }) =>
    heartbeats.map((one) => ({ runId, ...one })),
  )
  if (wanted.length === 0) return new Map()
  const rows = await connection.query(readHeartbeatDetails, [
    wanted.map(({ runId }) => runId),
    wanted.map(({ step }) => step),
    wanted.map(({ key }) => key),
  ])
  const byRun = new Map<string, HeartbeatRecord[]>()
  for (const { run_id: runId, step, key, value } of rows) {
    const found = byRun.get(runId)
    if (found === undefined) byRun.set(runId, [{ step, key, value }])
    else found.push({ step, key, value })
  }
  return byRun
}
