import {
  type BelayError,
  missingDefinition,
  type NewRun,
  refusedStart,
  StoreContendedError,
  shown,
} from '@belay/workflow/adapter'
import { refusalOf } from '../base/errors.ts'
import { isLockTimeout } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { readDefinitions } from '../rows/read-definitions.ts'

/** The error of a start whose values the database refused, or that waited too long for a key. Other errors are returned unchanged. */
export function startError(error: unknown, runs: readonly NewRun[]): unknown {
  const refusal = refusalOf(error)
  return refusal === null ? keyHeld(error, runs) : refusedStart(runs, refusal, error)
}

/** The error for runs that were not created because the store lacks the definition of one of them. It names that run. */
export async function undefinedAmong(connection: Connection, runs: readonly NewRun[]): Promise<BelayError> {
  const definitions = await readDefinitions(
    connection,
    runs.map(({ definitionId }) => definitionId),
  )
  const known = new Set(definitions.map(({ id }) => id))
  return missingDefinition(runs.find(({ definitionId }) => !known.has(definitionId)) ?? runs[0]!)
}

function keyHeld(error: unknown, runs: readonly NewRun[]): unknown {
  const [run] = runs
  if (!isLockTimeout(error)) return error
  const what =
    runs.length === 1
      ? `Run ${run!.runId} of workflow "${run!.workflow}" was not started: another transaction has taken its key ${shown(run!.key)}, and has not ended within some seconds.`
      : `None of ${runs.length} runs was started: another transaction holds the key of one of them, and has not ended.`
  const remedy =
    'Start the run again once that transaction has ended; keep transactions that start runs short.'
  return new StoreContendedError(what, {
    remedy,
    runId: runs.length === 1 ? run!.runId : undefined,
    cause: error,
  })
}
