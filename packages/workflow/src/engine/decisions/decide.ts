import type { Claim, JsonText, Outcome, Wake } from '../../adapter/records.ts'
import type { EndedWell } from '../../adapter/transaction.ts'
import type { RunCause } from '../../cause.ts'
import type { RetryPolicy, StepDefinition } from '../../definition/step.ts'
import { BelayError } from '../../errors.ts'
import { RetryLaterError } from '../../handler-errors.ts'
import { counted } from '../../words.ts'
import { retryDelayMs } from '../base/backoff.ts'
import { serialiseError } from '../base/payload.ts'

/** How an attempt ended, seen from the worker. */
export type AttemptEnd =
  | { readonly type: 'returned'; readonly output: JsonText }
  /** Of a step that waits: its signal has come, and the store holds the output. */
  | { readonly type: 'received' }
  /** Of a step that waits: it goes on waiting. */
  | { readonly type: 'waits'; readonly wake: Wake | null }
  /** The handler returned, and what it returned cannot be stored: its effect is there, and nobody can build on it. */
  | { readonly type: 'unstorable'; readonly error: unknown }
  /** `interrupted` says that the handler had been signalled before it threw, and why. */
  | { readonly type: 'threw'; readonly error: unknown; readonly interrupted?: Interruption | undefined }
  /** The attempt was given up before it reached its handler, or its handler did not end in time for the worker to leave. */
  | { readonly type: 'given_up' }

export type Interruption = 'run_stopping' | 'worker_stopping'

/** Errors after which trying again cannot help. */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'permanent',
  'payload_unserialisable',
  'payload_too_large',
  'worker_lost',
  // What the handler committed by itself stands: doing it again would do it twice.
  'transaction_ended',
  'signal_timeout',
  'poll_timeout',
  'approval_rejected',
])

/**
 * What follows from the end of an attempt: a pure function of the claim, the step's policies and the end. `failingMs` is how long ago the
 * first attempt of this series of failures began.
 */
export function decideOutcome(
  claim: Claim,
  step: StepDefinition,
  end: AttemptEnd,
  random: () => number,
  failingMs = 0,
): Outcome {
  if (end.type === 'returned') return endedWell(claim, end.output)
  const { runId, step: number, fence, direction, definitionId } = claim
  const ref = { runId, step: number, fence, direction, definitionId }
  if (end.type === 'given_up') return { ...ref, type: 'released' }
  if (end.type === 'received') return { ...ref, type: 'received' }
  if (end.type === 'waits') return { ...ref, type: 'waiting', wake: end.wake }
  // Whatever it was told meanwhile: to do it again would do it twice.
  if (end.type === 'unstorable') return { ...failedForGood(claim, step, end.error), succeeded: true }
  // The handler was told to stop and did: that is no failure of its own.
  if (end.interrupted === 'worker_stopping') return { ...ref, type: 'released' }
  const errorText = JSON.stringify(serialiseError(end.error))
  // Not recorded as failed: it goes back to ready with its error, and the drain of its run cancels it there.
  if (end.interrupted === 'run_stopping') return { ...ref, type: 'retry', error: errorText, delayMs: 0 }

  const policy = direction === 'undo' ? (step.compensation?.retry ?? step.retry) : step.retry
  const delayMs = nextDelayMs(policy, claim.failures + 1, end.error, random)
  const inTime = policy.forMs === null || failingMs + (delayMs ?? 0) <= policy.forMs
  if (delayMs !== undefined && inTime) return { ...ref, type: 'retry', error: errorText, delayMs }
  if (direction === 'undo') return { ...ref, type: 'compensation_failed', error: errorText }
  return failedForGood(claim, step, end.error)
}

function failedForGood(claim: Claim, step: StepDefinition, thrown: unknown) {
  const { runId, step: number, fence, direction, definitionId } = claim
  const error = serialiseError(thrown)
  const cause: RunCause = { type: 'step_failed', step: step.name, attempt: claim.attempt, error }
  return {
    ...{ runId, step: number, fence, direction, definitionId, type: 'failed' as const },
    error: JSON.stringify(error),
    cause: JSON.stringify(cause),
  }
}

export function endedWell(claim: Claim, output: JsonText): EndedWell {
  const { runId, step, fence, direction, definitionId } = claim
  return direction === 'undo'
    ? { runId, step, fence, direction, definitionId, type: 'compensated' }
    : { runId, step, fence, direction, definitionId, type: 'completed', output }
}

/** A step that keeps killing its workers fails before it is tried once more. Returns the error, or undefined to go on. */
export function poisonError(claim: Claim, step: StepDefinition): BelayError | undefined {
  if (claim.losses < step.lossesMax) return undefined
  return new BelayError(
    'worker_lost',
    `Step "${step.name}" of run ${claim.runId} lost its worker ${counted(claim.losses, 'time')} and is not tried again: its handler may be what crashes the workers. Look at their logs; raise \`lossesMax\` if the losses had another reason.`,
    { runId: claim.runId, step: step.name, attempt: claim.attempt },
  )
}

function nextDelayMs(
  policy: RetryPolicy,
  failures: number,
  error: unknown,
  random: () => number,
): number | undefined {
  if (BelayError.is(error) && PERMANENT_CODES.has(error.code)) return undefined
  if (failures >= policy.attempts) return undefined
  return RetryLaterError.is(error) ? error.afterMs : retryDelayMs(policy, failures, random)
}
