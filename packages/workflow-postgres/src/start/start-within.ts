import { BelayError, type NewRun, type StartedRun } from '@belay/workflow/adapter'
import { lockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { within } from '../connection/within.ts'
import { areKnown } from '../store/read-store.ts'
import type { Wakeup } from '../store/wakeup.ts'
import { seesCommits } from './find-definitions.ts'
import type { Beside } from './save-within.ts'
import { startRuns } from './start-runs.ts'

/** Starts runs in the caller's transaction; workers hear of it when that commits. */
export async function startWithin(
  parts: {
    /** The caller's. */
    readonly transaction: Connection
    readonly beside: Beside
    readonly wakeup: Wakeup
  },
  runs: readonly NewRun[],
): Promise<readonly StartedRun[]> {
  // Its members cannot be sent apart: after an error the caller's transaction is over.
  const started = await startRuns(parts.transaction, runs, { waits: lockWait(1) }).catch(
    async (error: unknown) => {
      throw (await isTooNew(parts, runs, error)) ? tooNew(error) : error
    },
  )
  if (started.some(({ created }) => created)) {
    await parts.wakeup.wakeAfter?.(parts.transaction, [
      ...new Set(runs.map(({ definitionId }) => definitionId)),
    ])
  }
  return started
}

/** How long the look beside the transaction may take. */
const LOOK_TIMEOUT_MS = 2_000

/** A definition that was saved after the transaction's snapshot was taken is there, but not for the transaction. */
async function isTooNew(
  { transaction, beside }: { readonly transaction: Connection; readonly beside: Beside },
  runs: readonly NewRun[],
  error: unknown,
): Promise<boolean> {
  if (!BelayError.is(error) || error.code !== 'unknown_workflow') return false
  if (await seesCommits(transaction)) return false
  const connection = beside()
  // Without a look, a repetition finds out: its snapshot is fresh.
  if (connection === null) return true
  const looking = areKnown(
    connection,
    runs.map(({ definitionId }) => definitionId),
  )
  return within(LOOK_TIMEOUT_MS, looking, () => new Error('too late')).catch(() => true)
}

/** As the database says it of rows: whoever repeats transactions for conflicts repeats this one too. */
function tooNew(cause: unknown): Error {
  return Object.assign(
    new Error(
      'could not serialize access: the workflow was stored for the first time after the snapshot of this transaction was taken. Repeat the transaction; or start the engine, or a run, before transactions of this isolation.',
      { cause },
    ),
    { code: '40001' },
  )
}
