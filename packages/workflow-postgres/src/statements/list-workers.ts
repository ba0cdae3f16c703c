import type { WorkerRecord } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

interface WorkerListRow {
  readonly id: string
  readonly name: string
  readonly status: 'live' | 'dead'
  readonly started_at: number | null
  readonly renewed_at: number | null
  readonly lease_expires_at: number | null
  readonly slots: number | null
  readonly busy: number | null
  readonly host: string | null
  readonly definition_ids: readonly number[] | null
}

/** Every worker that is registered. Reads the whole table, which is as small as the number of workers. No locks. */
export const listWorkersStatement: Statement<WorkerListRow> = {
  name: 'list_workers',
  text: `
select w.id, w.name, w.status, (extract(epoch from w.started_at) * 1000)::float8 as started_at,
  (extract(epoch from w.renewed_at) * 1000)::float8 as renewed_at,
  case when isfinite(w.lease_expires_at) then (extract(epoch from w.lease_expires_at) * 1000)::float8 end as lease_expires_at,
  w.slots, w.busy, w.host, w.definition_ids
from belay.workflow_workers w
order by w.name, w.id`,
}

export async function listWorkers(connection: Connection): Promise<readonly WorkerRecord[]> {
  const rows = await connection.query(listWorkersStatement, [])
  return rows.map((row) => ({
    workerId: row.id,
    name: row.name,
    status: row.status,
    startedAt: row.started_at,
    renewedAt: row.renewed_at,
    leaseExpiresAt: row.lease_expires_at,
    slots: row.slots,
    busy: row.busy,
    host: row.host,
    definitionIds: row.definition_ids,
  }))
}
