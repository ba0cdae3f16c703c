import { type Claim, type NamesRefused, type RunStatus, sendApart } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ClaimRow, claimedColumns, decodeClaim } from '../rows/claim-row.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'

/** The store's clock, epoch milliseconds. */
export const readNow: Statement<{ readonly now: number }> = {
  name: 'read_now',
  text: 'select (extract(epoch from belay.store_now()) * 1000)::float8 as now',
}

/** Statuses of runs, as shown or as stored. Index: primary keys. No locks. */
export const readStatusesStatement: Statement<{ readonly run_id: string; readonly status: RunStatus }> = {
  name: 'read_statuses',
  text: `
select r.id as run_id, case when $2::bool then r.status else belay.shown_status(r.id, r.status, r.start_at) end as status
from unnest($1::uuid[]) as wanted (run_id)
join belay.workflow_runs r on r.id = any (array[wanted.run_id])`,
}

/** Of these runs, those that no longer go forward. Index: primary key. No locks. */
export const readStoppingRuns: Statement<{ readonly run_id: string }> = {
  name: 'read_stopping_runs',
  text: `
select r.id as run_id
from unnest($1::uuid[]) as wanted (run_id)
join belay.workflow_runs r on r.id = any (array[wanted.run_id])
where r.status not in (${forwardStatuses}) or r.stop is not null`,
}

/**
 * All steps that a worker holds, from the runs that its journal names, or from those of them that are given. The cost grows with the journal. Index: the
 * journal and steps by primary key. No locks.
 */
export const readHeldSteps: Statement<ClaimRow> = {
  name: 'read_held_steps',
  text: `
with journaled_runs as materialized (
  select distinct named.run_id, $1::uuid as worker_id, array['running', 'compensating'] as leased_statuses
  from belay.workflow_leases l
  cross join lateral unnest(l.run_ids) as named (run_id)
  where l.worker_id = $1::uuid and ($2::uuid[] is null or named.run_id = any ($2::uuid[]))
)
select s.run_id, s.step, s.fence, r.definition_id, ${claimedColumns}
from journaled_runs j
join belay.workflow_steps s on s.run_id = any (array[j.run_id])
join belay.workflow_runs r on r.id = any (array[j.run_id])
where s.worker_id = any (array[j.worker_id]) and s.status = any (j.leased_statuses)
order by j.run_id, s.step`,
}

/** The runs that a worker's journal names. Reads no row of a run. Index: the journal by primary key. No locks. */
export const readJournaledRuns: Statement<{ readonly run_id: string }> = {
  name: 'read_journaled_runs',
  text: `
select distinct named.run_id
from belay.workflow_leases l
cross join lateral unnest(l.run_ids) as named (run_id)
where l.worker_id = $1::uuid`,
}

export async function now(connection: Connection): Promise<number> {
  const [row] = await connection.query(readNow, [])
  return row!.now
}

export async function readStatuses(
  connection: Connection,
  runIds: readonly string[],
  { stored = false }: { readonly stored?: boolean } = {},
): Promise<readonly { readonly runId: string; readonly status: RunStatus }[]> {
  const known = runIds.filter(isUuid)
  if (known.length === 0) return []
  const rows = await connection.query(readStatusesStatement, [[...new Set(known)], stored])
  return rows.map((row) => ({ runId: row.run_id, status: row.status }))
}

export async function stopping(
  connection: Connection,
  request: { runIds: readonly string[] },
): Promise<readonly string[]> {
  if (request.runIds.length === 0) return []
  const rows = await connection.query(readStoppingRuns, [[...new Set(request.runIds)]])
  return rows.map((row) => row.run_id)
}

type HeldRequest = NamesRefused & { readonly workerId: string }

export async function held(connection: Connection, request: HeldRequest): Promise<readonly Claim[]> {
  try {
    return (await connection.query(readHeldSteps, [request.workerId, null])).map(decodeClaim)
  } catch (error) {
    if (request.onRefused === undefined || !isOfStatement(error)) throw error
  }
  return heldApart(connection, request)
}

/** The same, run by run where the database cannot read a row. */
export async function heldApart(
  connection: Connection,
  { workerId, onRefused }: HeldRequest,
): Promise<readonly Claim[]> {
  const journaled = await connection.query(readJournaledRuns, [workerId])
  const claims: Claim[] = []
  await sendApart(
    journaled.map((row) => row.run_id),
    {
      send: async (runIds) => {
        claims.push(...(await connection.query(readHeldSteps, [workerId, runIds])).map(decodeClaim))
      },
      refused: (runId, error) => onRefused?.({ runId, error }),
      heldUp: (_, error) => {
        throw error
      },
      unanswered: (_, error) => {
        throw error
      },
    },
  )
  return claims
}
