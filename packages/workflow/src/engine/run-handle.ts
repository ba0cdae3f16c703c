import type { Adapter } from '../adapter/index.ts'
import { BelayError } from '../errors.ts'
import { RunFailedError } from './run-failed-error.ts'
import { type RunSnapshot, runSnapshot } from './run-snapshot.ts'
import type { RunWatch } from './run-watch.ts'

/** A run that was started or found. Holds nothing open: keep it or drop it. */
export interface RunHandle<Outputs = Readonly<Record<string, unknown>>> {
  readonly id: string
  /** False when `key` belonged to an earlier run, which this handle stands for. */
  readonly created: boolean
  /**
   * Waits for the end of the run, however long that takes, and gives every step's output by name.
   *
   * @throws RunFailedError when it failed or was cancelled, once its undo has come to an end; BelayError `unknown_run`, `engine_closed`.
   */
  result(): Promise<Outputs>
  /** The run and its steps as they stand now. */
  status(): Promise<RunSnapshot>
  /**
   * Stops the run: in-flight handlers are signalled and awaited, then everything is undone, and the run ends as `cancelled`.
   * Resolves once that is recorded, to whether this call stopped it: false when it was over or stopping already.
   */
  cancel(options?: { readonly reason?: string }): Promise<boolean>
}

export interface RunHandleParts {
  readonly adapter: Adapter
  readonly watch: RunWatch
  readonly cancel: (runId: string, reason: string | undefined) => Promise<boolean>
}

export function runHandle<Outputs>(
  parts: RunHandleParts,
  run: { readonly id: string; readonly created: boolean },
): RunHandle<Outputs> {
  return {
    ...run,
    async result() {
      const ended = await parts.watch.over(run.id)
      if (ended.status !== 'completed') throw new RunFailedError(ended)
      return Object.fromEntries(ended.steps.map((step) => [step.name, step.output])) as Outputs
    },
    async status() {
      const found = await parts.adapter.readRun(run.id)
      if (found === null) throw new BelayError('unknown_run', `There is no run ${run.id}.`, { runId: run.id })
      return runSnapshot(found)
    },
    cancel: (options) => parts.cancel(run.id, options?.reason),
  }
}
