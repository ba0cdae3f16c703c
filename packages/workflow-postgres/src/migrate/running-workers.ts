import { BelayError } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type Migration, stopsOlderCode } from './migration.ts'

interface RunningWorker {
  readonly name: string
  /** Null in schemas from before migration 0002, and where the worker did not say. */
  readonly host: string | null
  /** How long until its lease expires unless it is renewed. */
  readonly seconds: number
}

/**
 * Workers whose lease has not expired. One that is leaving has ended its lease. Through JSON: the oldest schemas have no column `host`. Index: the
 * table is as small as the number of workers. No locks.
 */
const readRunning: Statement<RunningWorker> = {
  name: null,
  text: `
select w.name, to_jsonb(w)->>'host' as host, ceil(extract(epoch from w.lease_expires_at - belay.store_now()))::int as seconds
from belay.workflow_workers w
where w.status = 'live' and w.lease_expires_at > belay.store_now()
order by w.name, w.id`,
}

const NAMED_MAX = 10

/**
 * Throws `workers_running` when one of these migrations stops older code and a worker is running. Whoever runs on the schema as it is has older
 * code: newer code does not open it. A process that only starts runs is not seen, and neither is a worker that starts a moment later.
 */
export async function checkNobodyIsCutOff(
  connection: Pick<Connection, 'query'>,
  schema: string,
  pending: readonly Migration[],
): Promise<void> {
  const stopping = pending.find(stopsOlderCode)
  if (stopping === undefined) return
  const running = await connection.query(readRunning, [])
  if (running.length === 0) return
  const named = running
    .slice(0, NAMED_MAX)
    .map(({ name, host }) => (host === null ? name : `${name} on ${host}`))
  const more = running.length > NAMED_MAX ? `, and ${running.length - NAMED_MAX} more` : ''
  const seconds = Math.max(...running.map((worker) => worker.seconds))
  throw new BelayError(
    'workers_running',
    `Schema "${schema}" was not migrated: migration ${stopping.tag} stops older code, and ${running.length === 1 ? 'a worker of older code is' : `${running.length} workers of older code are`} running: ${named.join(', ')}${more}.`,
    {
      remedy: `Stop every process that uses Belay, then call migrate() again. A worker that was killed counts until its lease expires, in ${seconds} s at most. With the option evenIfWorkersRun, migrate() does not wait for that; workers that do run then fail in their statements.`,
    },
  )
}
