import { isTerminal, type StepRecord, type StepStatus } from '../../adapter/index.ts'
import { isOpenerName } from '../../definition/map-draft.ts'
import { BelayError } from '../../errors.ts'
import { fromJsonText } from '../base/payload.ts'
import { limitWait, resultAborted } from './result-options.ts'
import type { SeenRun } from './run-feed.ts'
import type { RunObserver } from './run-observer.ts'
import { isOver, outputOf } from './run-snapshot.ts'
import type { Awaiting } from './run-watch.ts'
import { unknownStep } from './unknown-step.ts'

/** The error of `step()` for a step that has no result: it failed for good, was cancelled or undone, or its run ended without it. */
export class StepFailedError extends BelayError {
  override readonly name = 'StepFailedError'
  /** The status of the step when that was seen. */
  readonly status: StepStatus

  constructor(runId: string, { name, status, attempts, error }: StepRecord) {
    super('step_failed', `Step "${name}" of run ${runId} has no result: ${reasonOf(status)}.`, {
      runId,
      step: name,
      attempt: attempts,
      cause: fromJsonText(error),
    })
    this.status = status
  }

  static override is(value: unknown): value is StepFailedError {
    return BelayError.is(value) && value.code === 'step_failed'
  }
}

function reasonOf(status: StepStatus): string {
  switch (status) {
    case 'failed':
      return 'it failed for good, and its error is the cause of this one. Read the run with result() or runs.get(); an operator may retry it with retryStep()'
    case 'cancelled':
      return 'it was cancelled, because its run stopped before the step had completed'
    case 'compensating':
    case 'compensated':
    case 'compensation_failed':
      return 'its run stopped, and the step is being undone or was undone'
    default:
      return `its run ended while the step was ${status}`
  }
}

/** Waits until a step has a result. */
export async function stepResult(
  observer: RunObserver,
  { runId, step, timeoutMs, signal, isStarted }: Awaiting & { readonly runId: string; readonly step: string },
): Promise<unknown> {
  if (signal?.aborted) throw resultAborted({ runId, step }, signal)
  // Only items and rounds have names with a key in brackets.
  const feed = observer.follow(runId, { withItems: step.endsWith(']') && !isOpenerName(step), isStarted })
  const giveUp = (error: BelayError) => feed.cut(error)
  const stopWaiting = limitWait({
    clock: observer.clock,
    advice: (id) => observer.advice(id),
    ...{ runId, step, timeoutMs, signal, giveUp },
  })
  try {
    for (;;) {
      const seen = (await feed.next())!
      const found = resultIn(seen, step)
      if (found !== undefined) return outputOf(found, seen.mayFail)
    }
  } finally {
    stopWaiting()
    feed.stop()
  }
}

/** The step if it has a result; undefined if it may still get one. */
function resultIn({ run, steps, mayFail }: SeenRun, name: string): StepRecord | undefined {
  const step = steps.find((other) => other.name === name)
  if (step === undefined) {
    throw unknownStep(
      run,
      steps.map((other) => other.name),
      name,
    )
  }
  switch (step.status) {
    case 'completed':
    case 'skipped':
      return step
    case 'failed':
      if (mayFail.has(step.step)) return step
      throw new StepFailedError(run.runId, step)
    case 'cancelled':
    case 'compensating':
    case 'compensated':
    case 'compensation_failed':
      throw new StepFailedError(run.runId, step)
    case 'pending':
    case 'ready':
    case 'running':
    case 'waiting':
      if (isTerminal(run.status) || isOver(run, steps)) throw new StepFailedError(run.runId, step)
      return undefined
  }
}
