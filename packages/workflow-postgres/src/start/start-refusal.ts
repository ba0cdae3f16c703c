import { BelayError, type NewRun, StoreContendedError, sentence, shown } from '@belay/workflow/adapter'
import { refusalOf } from '../base/errors.ts'
import { isLockTimeout } from '../base/lock-wait.ts'

/** What a start came to that the database refused for its values, or that waited too long for a key. Other errors stay as they are. */
export function refusedStart(error: unknown, runs: readonly NewRun[]): unknown {
  return refusedInput(keyHeld(error, runs), runs)
}

/** The store has no such definition. */
export function notStartable(run: NewRun): BelayError {
  return new BelayError(
    'unknown_workflow',
    `Run ${run.runId} of workflow "${run.workflow}" was not started: the store has no definition ${run.definitionId}. Save the workflow's definition first; if it was saved, the database was reset since, and the process must be started again.`,
    { runId: run.runId },
  )
}

function keyHeld(error: unknown, runs: readonly NewRun[]): unknown {
  const [run] = runs
  if (!isLockTimeout(error)) return error
  const what =
    runs.length === 1
      ? `Run ${run!.runId} of workflow "${run!.workflow}" was not started: another transaction has taken its key ${shown(run!.key)}, and has not ended for some seconds.`
      : `None of ${runs.length} runs was started: another transaction holds the key of one of them, and has not ended.`
  const message = `${what} Start the run again once that transaction has ended; keep transactions that start runs short.`
  return new StoreContendedError(message, { runId: runs.length === 1 ? run!.runId : undefined, cause: error })
}

function refusedInput(error: unknown, runs: readonly NewRun[]): unknown {
  const refusal = refusalOf(error)
  if (refusal === null) return error
  const [run] = runs
  const what =
    runs.length === 1
      ? `Run ${run!.runId} of workflow "${run!.workflow}" was not started: the database refused its input or key`
      : `None of ${runs.length} runs was started: the database refused an input or key of one of them`
  const remedy = 'Give a value that PostgreSQL can store.'
  return new BelayError('invalid_input', `${what}: ${sentence(refusal)} ${remedy}`, { cause: error })
}
