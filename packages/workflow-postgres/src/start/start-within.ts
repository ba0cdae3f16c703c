import { BelayError, type NewRun, type StartedRun } from '@belay/workflow/adapter'
import { lockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { within } from '../connection/within.ts'
import { areKnown } from '../store/read-store.ts'
import type { Wakeup } from '../store/wakeup.ts'
import { seesCommits } from './find-definitions.ts'
import type { Beside } from './save-within.ts'
import { startLimited } from './start-limited.ts'

/** Starts runs in the caller's transaction; workers are told when it commits. */
export async function startWithin(
  parts: {
    /** The caller's transaction. */
    readonly transaction: Connection
    readonly beside: Beside
    readonly wakeup: Wakeup
  },
  runs: readonly NewRun[],
): Promise<readonly StartedRun[]> {
  // The runs cannot be sent again one by one: after an error the caller's transaction is over.
  const started = await startLimited(parts.transaction, runs, { waits: lockWait(1) }).catch(
    async (error: unknown) => {
      throw await startErrorWithin(parts, runs, error)
    },
  )
  if (started.some(({ created }) => created)) {
    await parts.wakeup.wakeAfter?.(parts.transaction, [
      ...new Set(runs.map(({ definitionId }) => definitionId)),
    ])
  }
  return started
}

/** The error of a start in a caller's transaction: a conflict, if the transaction is too old to see the definition. */
export async function startErrorWithin(
  parts: { readonly transaction: Connection; readonly beside: Beside },
  runs: readonly NewRun[],
  error: unknown,
): Promise<unknown> {
  return (await isTooNew(parts, runs, error)) ? tooNew(error) : error
}

/** How long the look beside the transaction may take, in milliseconds. */
const LOOK_TIMEOUT_MS = 2_000

/** Whether the definition was saved after the transaction took its snapshot: it exists, but the transaction cannot see it. */
async function isTooNew(
  { transaction, beside }: { readonly transaction: Connection; readonly beside: Beside },
  runs: readonly NewRun[],
  error: unknown,
): Promise<boolean> {
  if (!BelayError.is(error) || error.code !== 'unknown_workflow') return false
  if (await seesCommits(transaction)) return false
  const connection = beside()
  // Without a look, say yes: the repetition has a fresh snapshot and will find out.
  if (connection === null) return true
  const looking = areKnown(
    connection,
    runs.map(({ definitionId }) => definitionId),
  )
  return within(LOOK_TIMEOUT_MS, looking, () => new Error('too late')).catch(() => true)
}

/** The code that the database uses for rows: code that repeats transactions on conflicts repeats this one too. */
function tooNew(cause: unknown): Error {
  return Object.assign(
    new Error(
      'could not serialize access: the workflow was first stored after this transaction took its snapshot. Repeat the transaction, or start the engine before transactions with this isolation level.',
      { cause },
    ),
    { code: '40001' },
  )
}
