import { type NewRun, type StartedRun, StoreContendedError } from '@belay/workflow/adapter'
import { isLockTimeout, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { lostParents } from './held-parents.ts'
import { startError } from './start-refusal.ts'
import { type StartOptions, startRuns } from './start-runs.ts'

/**
 * Gives runs that are about to be created their slots, each all of them or none. Guarantee: no key ever has more slots taken than it has; a run that
 * exists, or whose key is taken, takes nothing. What is decided is read under the keys' locks, so it is a function of several statements
 * (`take_start_slots`). Index: primary keys, unique (workflow, key), of waiting steps by line. Locks: keys by (limit, key), until the transaction ends.
 */
export const takeStartSlots: Statement<{
  readonly position: number
  /** 0 if the run has its slots, the number of the entry that has none, or null for a run that is there. */
  readonly entry: number | null
  readonly slots: number | null
}> = {
  name: 'take_start_slots',
  text: `
select t.position, t.entry, t.slots
from belay.take_start_slots($1::uuid[], $2::int[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], $8::int[], $9::text) t`,
}

/** Frees the slots of runs that were not created after all. Index: slots by (run, step), runs by primary key. Locks: none but those of the transaction. */
export const dropStartSlots: Statement<{ readonly dropped: number }> = {
  name: 'drop_start_slots',
  text: `
with dropped_slots as (
  delete from belay.workflow_limit_slots s
  -- No joins: they may be planned as ones of the whole table.
  where s.ctid = any (array(
    select x.ctid from unnest($1::uuid[]) as d (run_id)
    cross join lateral (
      select o.ctid from belay.workflow_limit_slots o where o.run_id = d.run_id and o.step = -1 offset 0
    ) x
    where (select true from belay.workflow_runs r where r.id = d.run_id) is null
  ))
  returning s.run_id
)
select count(*)::int as dropped from dropped_slots`,
}

/**
 * Starts runs in one transaction, of which some take slots or are not started. Without such runs, as {@link startRuns}. The keys of the limits are
 * locked first, but for the steps that start children: whoever waits for them sees what this transaction has taken.
 */
export async function startLimited(
  connection: Connection,
  runs: readonly NewRun[],
  options: StartOptions = {},
): Promise<readonly StartedRun[]> {
  if (runs.every(({ limits }) => limits === undefined)) return startRuns(connection, runs, options)
  const { waits = sharedLockWait } = options
  return connection.transaction(async (transaction) => {
    const lost = await lostParents(transaction, runs, waits)
    const asking = runs.map((run) => (lost.has(run.runId) ? { ...run, limits: undefined } : run))
    const taken = await takeSlots(transaction, asking, waits)
    const open = runs.filter((_, index) => taken[index]!.type !== 'full')
    const started = await startRuns(transaction, open, { waits })
    await settleSlots(transaction, runs, taken, started)
    let next = 0
    return runs.map((run, index): StartedRun => {
      const slots = taken[index]!
      if (slots.type !== 'full') return started[next++]!
      const { runId, definitionId, input } = run
      return { runId, definitionId, input, created: false, full: slots.full }
    })
  })
}

type Slots =
  | { readonly type: 'taken' | 'known' | 'none' }
  | { readonly type: 'full'; readonly full: NonNullable<StartedRun['full']> }

async function takeSlots(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
): Promise<readonly Slots[]> {
  const entries = runs.flatMap(({ limits = [] }, index) =>
    limits.map((limit) => ({ ...limit, run: index + 1 })),
  )
  const rows = await connection
    .query(takeStartSlots, [
      runs.map(({ runId }) => runId),
      runs.map(({ definitionId }) => definitionId),
      runs.map(({ workflow }) => workflow),
      runs.map(({ key }) => key),
      entries.map(({ run }) => run),
      entries.map(({ limit }) => limit),
      entries.map(({ key }) => key),
      entries.map(({ concurrency }) => concurrency),
      waits,
    ])
    .catch((error: unknown) => {
      throw isLockTimeout(error) ? limitHeld(error, runs) : startError(error, runs)
    })
  const byPosition = new Map(rows.map((row) => [row.position, row]))
  return runs.map(({ limits = [] }, index): Slots => {
    const { entry, slots } = byPosition.get(index + 1)!
    if (limits.length === 0) return { type: 'none' }
    if (entry === null) return { type: 'known' }
    if (entry === 0) return { type: 'taken' }
    const { limit, key } = entries[entry - 1]!
    return { type: 'full', full: { limit, key, concurrency: slots! } }
  })
}

/** Runs that were there after all free their slots. One that vanished after it was found has none. */
async function settleSlots(
  connection: Connection,
  runs: readonly NewRun[],
  taken: readonly Slots[],
  started: readonly StartedRun[],
): Promise<void> {
  const created = new Set(started.filter((run) => run.created).map(({ runId }) => runId))
  const typeOf = (type: Slots['type']) => runs.filter((_, index) => taken[index]!.type === type)
  const taking = new Set(typeOf('taken').map(({ runId }) => runId))
  const vanished = typeOf('known').find(({ runId }) => created.has(runId) && !taking.has(runId))
  if (vanished !== undefined)
    throw new StoreContendedError(
      `Run ${vanished.runId} of workflow "${vanished.workflow}" was not started: the run that had its key was deleted at this moment.`,
      { remedy: 'Start the run again.', runId: vanished.runId },
    )
  const unused = [...taking].filter((runId) => !created.has(runId))
  if (unused.length > 0) await connection.query(dropStartSlots, [unused])
}

function limitHeld(cause: unknown, runs: readonly NewRun[]): StoreContendedError {
  const [run] = runs
  const what =
    runs.length === 1
      ? `Run ${run!.runId} of workflow "${run!.workflow}" was not started: another transaction holds the key of its limit, and has not ended within some seconds.`
      : `None of ${runs.length} runs was started: another transaction holds the key of a limit of one of them, and has not ended.`
  return new StoreContendedError(what, {
    remedy: 'Start the run again once that transaction has ended; keep transactions that start runs short.',
    runId: runs.length === 1 ? run!.runId : undefined,
    cause,
  })
}
