import { BelayError } from '../errors.ts'
import { sentence } from '../words.ts'
import type { NewSignal } from './signals.ts'
import type { NewRun } from './starts.ts'

// Adapters throw these, so that a refusal reads the same from every store.

/** For `startRuns`: the store can never store an input or a key of these runs, for this reason. */
export function refusedStart(runs: readonly NewRun[], reason: string, cause?: unknown): BelayError {
  const [run] = runs
  const what =
    runs.length === 1
      ? `Run ${run!.runId} of workflow "${run!.workflow}" was not started: the store refused its input or key`
      : `None of ${runs.length} runs was started: the store refused an input or key of one of them`
  return invalid(what, reason, { runId: runs.length === 1 ? run!.runId : undefined, cause })
}

/** For `startRuns`: the store does not have the run's definition. */
export function missingDefinition({ runId, workflow, definitionId }: NewRun): BelayError {
  return new BelayError(
    'unknown_workflow',
    `Run ${runId} of workflow "${workflow}" was not started: the store has no definition ${definitionId}.`,
    {
      remedy:
        "Save the workflow's definition first; if it was saved, the database was reset since, and the process must be started again.",
      runId,
    },
  )
}

/** For `deliverSignals`: the store can never store a payload or a key of these signals, for this reason. */
export function refusedSignals(signals: readonly NewSignal[], reason: string, cause?: unknown): BelayError {
  const what = "Nothing was recorded: the store refused a signal's payload or key"
  return invalid(what, reason, { runId: signals.length === 1 ? signals[0]!.runId : undefined, cause })
}

function invalid(
  what: string,
  reason: string,
  context: { readonly runId: string | undefined; readonly cause: unknown },
): BelayError {
  return new BelayError(
    'invalid_input',
    `${what}: ${sentence(reason)} Give a value that the store can keep.`,
    context,
  )
}
