import { BelayError, type NewRun, type StartedRun } from '@belay/workflow/adapter'
import type { Connection } from './connection/connection.ts'
import { lockWait } from './lock-wait.ts'
import { areKnown } from './statements/read-store.ts'
import { startRuns } from './statements/start-runs.ts'
import type { Wakeup } from './wakeup.ts'

/** Starts runs in the caller's transaction; workers hear of it when that commits. */
export async function startWithin(
  parts: {
    /** The caller's. */
    readonly transaction: Connection
    /** Belay's own; null when it waits for the transaction. */
    readonly beside: Connection | null
    readonly wakeup: Wakeup
  },
  runs: readonly NewRun[],
): Promise<readonly StartedRun[]> {
  // Its members cannot be sent apart: after an error the caller's transaction is over.
  const started = await startRuns(parts.transaction, runs, { waits: lockWait(1) }).catch(
    async (error: unknown) => {
      throw (await isTooNew(parts.beside, runs, error)) ? tooNew(error) : error
    },
  )
  if (started.some(({ created }) => created)) await parts.wakeup.wakeAfter?.(parts.transaction)
  return started
}

/** A definition that was saved after the transaction's snapshot was taken is there, but not for the transaction. */
async function isTooNew(
  beside: Connection | null,
  runs: readonly NewRun[],
  error: unknown,
): Promise<boolean> {
  if (beside === null || !BelayError.is(error) || error.code !== 'unknown_workflow') return false
  return areKnown(
    beside,
    runs.map(({ definitionId }) => definitionId),
  )
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
