import {
  type ChangedRun,
  type ChangedSchedules,
  type ScheduleDecision,
  type SchedulesToChange,
  type StartedRun,
  StoreContendedError,
} from '@belay/workflow/adapter'
import { isLockTimeout, lockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { readLockTimeout, setLockTimeout } from '../control/lock-timeout.ts'
import { cancel } from '../rows/stop-runs.ts'
import { startRuns } from '../start/start-runs.ts'
import { lock } from './lock-schedules.ts'
import { type Written, writeFiringsOf, writeSchedules } from './write-schedules.ts'

/** How often somebody else may make a schedule of the same name meanwhile. */
const ROUNDS_MAX = 5
/** How long a firing waits for the run that it cancels: other schedules wait with it. */
const CANCEL_WAIT = lockWait(2)
const REPLACED = { type: 'cancelled', reason: 'The next firing of its schedule took its place.' }

/**
 * Changes schedules as `decide` says, in one transaction. Guarantee: schedules, their runs and their firings commit together. Locks: schedules by
 * name, then new runs by their keys, then the steps and the runs that it cancels.
 */
export async function changeSchedules<Answer>(
  connection: Connection,
  request: SchedulesToChange<Answer>,
): Promise<ChangedSchedules<Answer>> {
  if (request.names.length === 0) return { answers: [], started: [], cancelled: [] }
  try {
    return await connection.transaction(async (transaction) => {
      const [before] = await transaction.query(readLockTimeout, [])
      for (let round = 0; round < ROUNDS_MAX; round += 1) {
        const changed = await changeLocked(transaction, request)
        if (changed === 'taken') continue
        // A caller's later statements keep the caller's limit.
        await transaction.query(setLockTimeout, [before!.lock_timeout])
        return changed
      }
      throw new StoreContendedError(
        `None of ${request.names.length} schedules could be changed: others kept making and deleting schedules of these names. Nothing was written.`,
        { remedy: 'Try again.' },
      )
    })
  } catch (error) {
    throw isLockTimeout(error) ? contended(request.names, error) : error
  }
}

async function changeLocked<Answer>(
  transaction: Connection,
  request: SchedulesToChange<Answer>,
): Promise<ChangedSchedules<Answer> | 'taken'> {
  const found = await lock(transaction, request, lockWait(request.names.length))
  const decided = found.map((each) => ({
    name: each.name,
    isNew: each.schedule === null,
    ...(request.decide(each) satisfies ScheduleDecision<Answer>),
  }))
  const answers = decided.map(({ name, answer }) => ({ name, answer }))
  const written: readonly Written[] = decided.flatMap(({ name, isNew, change }) =>
    change === null ? [] : [{ name, isNew, change }],
  )
  if (written.length === 0) return { answers, started: [], cancelled: [] }
  if (!(await writeSchedules(transaction, written))) return 'taken'
  const runs = written.flatMap(({ change }) => change.starts)
  const started = await startRuns(transaction, runs, { waits: lockWait(runs.length) })
  const holders = holdersOf(runs, started)
  await writeFiringsOf(transaction, written, (runId) => holders.get(runId ?? '') ?? runId)
  const cancelled = await cancelAll(
    transaction,
    written.flatMap(({ change }) => change.cancels),
  )
  return { answers, started, cancelled }
}

/** A key that is taken belongs to the run of that firing. */
function holdersOf(
  runs: readonly { readonly runId: string }[],
  started: readonly StartedRun[],
): ReadonlyMap<string, string> {
  return new Map(runs.map(({ runId }, index) => [runId, started[index]!.runId]))
}

async function cancelAll(transaction: Connection, runIds: readonly string[]): Promise<readonly ChangedRun[]> {
  if (runIds.length === 0) return []
  const entry = { action: 'cancel', actor: null, reason: REPLACED.reason, change: '{"compensate":true}' }
  const request = { runIds, cause: JSON.stringify(REPLACED), entry }
  return cancel(transaction, request, [...new Set(runIds)], CANCEL_WAIT)
}

function contended(names: readonly string[], cause: unknown): StoreContendedError {
  const what = names.length === 1 ? `Schedule "${names[0]}"` : `${names.length} schedules`
  return new StoreContendedError(
    `${what} could not be changed: another transaction holds a row that the change needs, of a schedule or of a run. Nothing was written.`,
    {
      remedy: 'Find that transaction with pg_blocking_pids() and pg_stat_activity, end it, and try again.',
      cause,
    },
  )
}
