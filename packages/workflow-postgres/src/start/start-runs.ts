import type { NewRun, StartedRun } from '@belay/workflow/adapter'
import { batchesBySize } from '../base/batches.ts'
import { sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { insert, type Leasing } from './insert-runs.ts'
import { undefinedAmong } from './start-refusal.ts'

/**
 * The runs that hold the ids or keys of runs that were not created. Index: primary key, then unique (workflow, key). No locks. Runs after the insert,
 * with a fresh snapshot: the insert could not see a holder that committed meanwhile.
 */
export const readHolders: Statement<{
  readonly asked_id: string
  readonly run_id: string
  readonly definition_id: number
  readonly version: number
  readonly input: string | null
  readonly input_hash: string | null
}> = {
  name: 'read_holders',
  text: `
select asked.run_id as asked_id, holder.id as run_id, holder.definition_id, holder.input::text as input, holder.input_hash,
  (select d.version from belay.workflow_definitions d where d.id = holder.definition_id) as version
from unnest($1::uuid[], $2::text[], $3::text[]) as asked (run_id, workflow, key)
cross join lateral (
  select r.id, r.definition_id, r.input, r.input_hash from belay.workflow_runs r where r.id = asked.run_id
  union all
  select r.id, r.definition_id, r.input, r.input_hash from belay.workflow_runs r
  where r.workflow = asked.workflow and r.key = asked.key
  limit 1
) holder`,
}

// A holder may vanish between the insert that met it and this read: then the key is free again.
const ROUNDS_MAX = 10

export interface StartOptions {
  readonly leasing?: Leasing | undefined
  /** How long to wait for a key that another transaction has taken, as Postgres takes it. */
  readonly waits?: string
}

/** Starts runs in one transaction, however large their inputs are. */
export async function startRuns(
  connection: Connection,
  runs: readonly NewRun[],
  { leasing, waits = sharedLockWait }: StartOptions = {},
): Promise<readonly StartedRun[]> {
  const [batch, ...more] = batchesBySize(runs, (run) => run.input?.length ?? 0)
  if (batch === undefined) return []
  if (more.length === 0) return startBatch(connection, batch, waits, leasing)
  return connection.transaction(async (transaction) => {
    const started: StartedRun[] = []
    for (const part of [batch, ...more]) started.push(...(await startBatch(transaction, part, waits)))
    return started
  })
}

async function startBatch(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
  leasing?: Leasing,
): Promise<readonly StartedRun[]> {
  const started = new Map<string, StartedRun>()
  let open = runs
  for (let round = 0; round < ROUNDS_MAX && open.length > 0; round += 1) {
    // Runs created in a later round are left to the queue.
    const { created, claims, lost } = await insert(
      connection,
      inOrderOfKeys(open),
      waits,
      round === 0 ? leasing : undefined,
    )
    const asCreated = ({ runId, definitionId, input }: NewRun): StartedRun => {
      const run = { runId, created: true, definitionId, input }
      return leasing === undefined ? run : { ...run, claims: claims.get(runId) ?? [] }
    }
    if (created.length === runs.length) return runs.map(asCreated)
    for (const run of created) started.set(run.runId, asCreated(run))
    open = open.filter((run) => !started.has(run.runId))
    for (const [askedId, holder] of await holdersOf(connection, open)) {
      started.set(askedId, leasing === undefined ? holder : { ...holder, claims: [] })
    }
    for (const run of open)
      if (lost.has(run.runId) && !started.has(run.runId)) started.set(run.runId, asLost(run))
    open = open.filter((run) => !started.has(run.runId))
  }
  if (open.length > 0) throw await undefinedAmong(connection, open)
  return runs.map((run) => started.get(run.runId)!)
}

function asLost({ runId, definitionId, input }: NewRun): StartedRun {
  return { runId, definitionId, input, created: false, lost: true }
}

function inOrderOfKeys(runs: readonly NewRun[]): readonly NewRun[] {
  if (!runs.some((run) => run.key !== null)) return runs
  return [...runs].sort(
    (one, other) => compare(one.workflow, other.workflow) || compare(one.key ?? '', other.key ?? ''),
  )
}

// By code unit, which is the same in every process, unlike a locale's order.
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

async function holdersOf(
  connection: Connection,
  runs: readonly NewRun[],
): Promise<readonly (readonly [askedId: string, holder: StartedRun])[]> {
  if (runs.length === 0) return []
  const rows = await connection.query(readHolders, [
    runs.map((run) => run.runId),
    runs.map((run) => run.workflow),
    runs.map((run) => run.key),
  ])
  return rows.map((row) => [
    row.asked_id,
    {
      runId: row.run_id,
      // Also if it is the same run: an earlier call created it, and only the answer was lost.
      created: false,
      definitionId: row.definition_id,
      input: row.input,
      version: row.version,
      inputHash: row.input_hash,
    },
  ])
}
