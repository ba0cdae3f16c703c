import type { WorkerRecord } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

interface WorkerRow {
  readonly worker_id: string
  readonly name: string
  readonly status: 'live' | 'dead'
  readonly started_at: number
  readonly renewed_at: number | null
  readonly lease_expires_at: number
  readonly slots: number | null
  readonly busy: number | null
  readonly host: string | null
  readonly definition_ids: readonly number[] | null
  /** JSON text. */
  readonly workflows: string
}

/**
 * Workers, with the names of the workflows for which they have handlers. Index: the table is as small as the number of workers; definitions by
 * primary key. No locks.
 */
export const readWorkers: Statement<WorkerRow> = {
  name: 'read_workers',
  text: `
select w.id as worker_id, w.name, w.status,
  (extract(epoch from w.started_at) * 1000)::float8 as started_at,
  (extract(epoch from w.renewed_at) * 1000)::float8 as renewed_at,
  (extract(epoch from w.lease_expires_at) * 1000)::float8 as lease_expires_at,
  w.slots, w.busy, w.host, w.definition_ids,
  (select coalesce(json_agg(json_build_object('name', d.name, 'version', d.version) order by d.name collate "C", d.version), '[]')
    from belay.workflow_definitions d where d.id = any (w.definition_ids))::text as workflows
from belay.workflow_workers w
order by w.started_at, w.id
limit $1::int`,
}

const WORKERS_MAX = 10_000

export async function listWorkers(
  connection: Connection,
  request: { limit?: number } = {},
): Promise<readonly WorkerRecord[]> {
  const rows = await connection.query(readWorkers, [request.limit ?? WORKERS_MAX])
  return rows.map((row) => ({
    workerId: row.worker_id,
    name: row.name,
    status: row.status,
    startedAt: row.started_at,
    renewedAt: row.renewed_at,
    // A worker that leaves sets the end of its lease to the beginning of time.
    leaseExpiresAt: Number.isFinite(row.lease_expires_at) ? row.lease_expires_at : null,
    slots: row.slots,
    busy: row.busy,
    host: row.host,
    definitionIds: row.definition_ids,
    workflows: row.definition_ids === null ? null : JSON.parse(row.workflows),
  }))
}
