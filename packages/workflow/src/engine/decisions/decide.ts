import { type SkipReason, skipText } from '../../adapter/branch.ts'
import type { LimitEntry } from '../../adapter/limits.ts'
import type { AttemptRef, Claim, JsonText, NewItem, Outcome, Wake } from '../../adapter/records.ts'
import type { EndedWell } from '../../adapter/transaction.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import type { RetryPolicy, StepDefinition } from '../../definition/step.ts'
import { BelayError } from '../../errors.ts'
import { RetryLaterError } from '../../handler-errors.ts'
import { counted } from '../../words.ts'
import { retryDelayMs } from '../base/backoff.ts'
import type { Runtime } from '../base/runtime.ts'
import { attemptError } from '../base/stack-frames.ts'
import { serialiseError } from '../base/stored-error.ts'

/** How an attempt ended in the worker. */
export type AttemptEnd =
  | { readonly type: 'returned'; readonly output: JsonText }
  /** A waiting step: its signal has arrived, and the store holds the output. */
  | { readonly type: 'received' }
  /** A waiting step: it continues to wait. */
  | { readonly type: 'waits'; readonly wake: Wake | null }
  /** A map decided its items. */
  | { readonly type: 'expands'; readonly items: readonly NewItem[]; readonly atOnce: number | null }
  /** A round of a loop returned, and another one follows. */
  | {
      readonly type: 'repeats'
      readonly output: JsonText
      readonly nextItem: NewItem
      readonly delayMs: number
    }
  /** The handler succeeded, but its output cannot be stored: the step took effect, but dependents have no input. */
  | { readonly type: 'unstorable'; readonly error: unknown }
  /** `interrupted`: the handler's signal had fired before it threw, for this reason. */
  | { readonly type: 'threw'; readonly error: unknown; readonly interrupted?: Interruption | undefined }
  /** A loop whose run continues past its failure has failed with this error. */
  | { readonly type: 'loop_failed'; readonly error: string }
  /** The definition skips the step. */
  | { readonly type: 'skipped'; readonly reason: SkipReason }
  /** The step's `when` was true: its handler begins once that is recorded. */
  | { readonly type: 'decided'; readonly branch: string }
  /** Its handler begins once it has a slot of each of these limits. */
  | { readonly type: 'enters'; readonly entries: readonly LimitEntry[] }
  /** An undo: the step has nothing to undo, and only keeps the order. */
  | { readonly type: 'relay' }
  /** The attempt was abandoned before its handler was called, or its handler did not end before the worker had to stop. */
  | { readonly type: 'given_up' }

export type Interruption = 'run_stopping' | 'worker_stopping'

/** What an outcome depends on besides the attempt. */
export interface Deciding {
  /** `random` randomises the delays of retries: from 0 to below 1. */
  readonly runtime: Pick<Runtime, 'random'>
  /** Whether errors are stored with their stacks. */
  readonly storeStacks: boolean
  /** The time since the first attempt of this series of failures began. Default 0. */
  readonly failingMs?: number
}

/** Errors after which a retry cannot help. */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'permanent',
  'payload_unserialisable',
  'payload_too_large',
  'too_many_values',
  'worker_lost',
  // The handler committed its transaction itself: a retry would repeat its effect.
  'transaction_ended',
  'signal_timeout',
  'poll_timeout',
  'rounds_exhausted',
  'approval_rejected',
  'child_failed',
])

/**
 * Decides the outcome of an attempt: a pure function of the claim, the step's policies and how the attempt ended.
 */
export function decideOutcome(
  claim: Claim,
  step: StepDefinition,
  end: AttemptEnd,
  { runtime, storeStacks: stacks, failingMs = 0 }: Deciding,
): Outcome {
  if (end.type === 'returned' || end.type === 'repeats') return endedWell(claim, end)
  const ref = refOf(claim)
  if (end.type === 'relay') {
    const relayed = { ...ref, type: 'relayed' as const, undoOf: claim.undoOf ?? 'completed' }
    return step.map?.part === 'join' ? { ...relayed, joins: true } : relayed
  }
  if (end.type === 'given_up') return { ...ref, type: 'released' }
  if (end.type === 'expands') return { ...ref, type: 'expanded', items: end.items, atOnce: end.atOnce }
  if (end.type === 'received') return { ...ref, type: 'received' }
  if (end.type === 'skipped') return { ...ref, type: 'skipped', branch: skipText(end.reason) }
  if (end.type === 'decided') return { ...ref, type: 'decided', branch: end.branch }
  if (end.type === 'enters') return { ...ref, type: 'enters', entries: end.entries }
  if (end.type === 'waits') return waits(claim, end.wake)
  // Even after an interruption: the handler succeeded, and a retry would repeat its effect.
  if (end.type === 'unstorable')
    return { ...failedForGood(claim, step, serialiseError(end.error, { stacks })), succeeded: true }
  if (end.type === 'loop_failed') return { ...ref, type: 'failed', error: end.error, continues: true }
  // The handler stopped because it was told to: not a failure.
  if (end.interrupted === 'worker_stopping') return { ...ref, type: 'released' }
  const error = serialiseError(end.error, { stacks })
  const errorText = JSON.stringify(error)
  // Not recorded as failed: the step becomes ready with its error, and the run's drain cancels it.
  if (end.interrupted === 'run_stopping') return { ...ref, type: 'retry', error: errorText, delayMs: 0 }

  const isUndo = claim.direction === 'undo'
  const policy = isUndo ? (step.compensation?.retry ?? step.retry) : step.retry
  const delayMs = nextDelayMs(policy, claim.failures + 1, end.error, runtime.random)
  const inTime = policy.forMs === null || failingMs + (delayMs ?? 0) <= policy.forMs
  if (delayMs !== undefined && inTime) return { ...ref, type: 'retry', error: errorText, delayMs }
  if (isUndo) return { ...ref, type: 'compensation_failed', error: errorText }
  return failedForGood(claim, step, error)
}

/** An undo has no status for waiting: its step is released, for as long as it waits. */
function waits(claim: Claim, wake: Wake | null): Outcome {
  if (claim.direction === 'forward') return { ...refOf(claim), type: 'waiting', wake }
  const delayMs = wake !== null && 'afterMs' in wake ? wake.afterMs : 0
  return { ...refOf(claim), type: 'released', begun: false, delayMs }
}

function failedForGood(claim: Claim, step: StepDefinition, error: SerialisedError) {
  if (step.onFailure === 'continue') {
    return {
      ...refOf(claim),
      type: 'failed' as const,
      error: JSON.stringify(error),
      continues: true as const,
    }
  }
  const cause: RunCause = { type: 'step_failed', step: step.name, attempt: claim.attempt, error }
  const { pivotsBefore } = step
  return {
    ...refOf(claim),
    type: 'failed' as const,
    error: JSON.stringify(error),
    cause: JSON.stringify(cause),
    ...(pivotsBefore.length === 0 ? {} : { pivots: pivotsBefore }),
  }
}

export function endedWell(
  claim: Claim,
  end: Extract<AttemptEnd, { type: 'returned' | 'repeats' }>,
): EndedWell {
  const { runId, step, fence, direction, definitionId } = claim
  const { output } = end
  if (end.type === 'repeats') {
    const { nextItem, delayMs } = end
    return { runId, step, fence, direction, definitionId, type: 'repeated', output, nextItem, delayMs }
  }
  // One literal for each type: spreading an object here makes a worker 40 % slower.
  return direction === 'undo'
    ? { runId, step, fence, direction, definitionId, type: 'compensated' }
    : { runId, step, fence, direction, definitionId, type: 'completed', output }
}

/** What identifies the attempt of a claim in the store. */
export function refOf({ runId, step, fence, direction, definitionId }: Claim): AttemptRef {
  return { runId, step, fence, direction, definitionId }
}

/** The error of a step that has lost its worker `lossesMax` times: it fails instead of running again. Undefined below that. */
export function poisonError(claim: Claim, step: StepDefinition): BelayError | undefined {
  if (claim.losses < step.lossesMax) return undefined
  return attemptError(
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
