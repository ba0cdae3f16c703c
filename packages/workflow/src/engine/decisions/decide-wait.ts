import type { StepPayloads } from '../../adapter/payloads.ts'
import type { Wake } from '../../adapter/records.ts'
import { STEP_KINDS } from '../../adapter/step-kinds.ts'
import type { Handler } from '../../definition/handler.ts'
import type { StepDefinition } from '../../definition/step.ts'
import {
  type Child,
  isNotYet,
  type Poll,
  type SignalWait,
  type Sleep,
  type Wait,
} from '../../definition/wait.ts'
import { DURATION_MAX, type Duration, durationMs, durationText } from '../../duration.ts'
import type { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import { type Instant, instantMs } from '../../instant.ts'
import { shown } from '../../shown.ts'
import { messageOf } from '../../thrown.ts'
import { sentence } from '../../words.ts'
import { fromJsonText } from '../base/payload.ts'
import { attemptError } from '../base/stack-frames.ts'

/** The stored state of a waiting step, and the store's clock: everything a decision depends on. */
export type WaitRow = Pick<StepPayloads, 'output' | 'availableAt' | 'waitingSince' | 'signalledAt'> & {
  readonly now: number
}

/** The result of checking a waiting step once. */
export type WaitStep =
  | { readonly type: 'waits'; readonly wake: Wake | null }
  /** The signal has arrived; the store holds the output. */
  | { readonly type: 'received' }
  | { readonly type: 'output'; readonly value: unknown }
  | { readonly type: 'threw'; readonly error: unknown }
  /** An undo: nothing is undone. */
  | { readonly type: 'relay' }
  /** The handler must be called, and `judge` interprets what it returned. `asks`: the option whose function it is, if it is one. */
  | {
      readonly type: 'call'
      readonly asks?: 'for' | 'until' | 'onTimeout'
      readonly handler: Handler
      readonly judge: (returned: unknown) => WaitAnswer
    }

export type WaitAnswer = Exclude<WaitStep, { type: 'call' }>

/** Decides how a waiting step continues: a pure function of its definition and its row. A child's own row decides too: see `decideChild`. */
export function decideWait(where: WaitPlace, wait: Exclude<Wait, Child>, row: WaitRow): WaitStep {
  switch (wait.kind) {
    case 'sleep':
      return decideSleep(where, wait, row)
    case 'signal':
    case 'approval':
      return decideSignal(where, wait, row)
    case 'poll':
      return decidePoll(where, wait, row)
  }
}

/** The step of a run that a decision is about. */
export interface WaitPlace {
  readonly runId: string
  readonly step: StepDefinition
}

const COMPLETED_WITHOUT_OUTPUT: WaitAnswer = { type: 'output', value: undefined }

function decideSleep(where: WaitPlace, sleep: Sleep, row: WaitRow): WaitStep {
  // The sleep's end was decided when it began and is in the row: do not call the handler again.
  if (row.waitingSince !== null) {
    return row.availableAt === null || row.availableAt <= row.now
      ? COMPLETED_WITHOUT_OUTPUT
      : { type: 'waits', wake: { at: row.availableAt } }
  }
  if (sleep.ms !== null) return sleepUntil(wakeOf(sleep.by, sleep.ms), row)
  return {
    type: 'call',
    asks: sleep.by,
    handler: where.step.run!,
    judge: (returned) => sleepUntil(computedWake(where, sleep, returned), row),
  }
}

function wakeOf(by: Sleep['by'], ms: number): Wake {
  return by === 'for' ? { afterMs: ms } : { at: ms }
}

function sleepUntil(wake: Wake, { now }: WaitRow): WaitAnswer {
  const isOver = 'at' in wake ? wake.at <= now : wake.afterMs === 0
  return isOver ? COMPLETED_WITHOUT_OUTPUT : { type: 'waits', wake }
}

/** @throws PermanentError for an invalid duration or instant: a retry would not help. */
function computedWake({ runId, step }: WaitPlace, { by }: Sleep, returned: unknown): Wake {
  const what = `What ${by} of step "${step.name}" of run ${runId} returned`
  try {
    if (by === 'until') return { at: instantMs(returned as Instant, what) }
    const afterMs = durationMs(returned as Duration, what)
    if (afterMs <= durationMs(DURATION_MAX, 'the longest duration')) return { afterMs }
    throw new PermanentError(`${what} is ${shown(returned)}, and the longest duration is ${DURATION_MAX}.`)
  } catch (cause) {
    throw new PermanentError(messageOf(cause), { cause })
  }
}

function decideSignal(where: WaitPlace, wait: SignalWait, row: WaitRow): WaitStep {
  if (row.signalledAt !== null) {
    const decision = wait.kind === 'approval' ? (fromJsonText(row.output) as Decision) : undefined
    if (decision === undefined || decision.approved) return { type: 'received' }
    return { type: 'threw', error: rejectionOf({ runId: where.runId, name: where.step.name }, decision) }
  }
  if (row.waitingSince === null) {
    return { type: 'waits', wake: wait.timeoutMs === null ? null : { afterMs: wait.timeoutMs } }
  }
  if (row.availableAt === null) return { type: 'waits', wake: null }
  if (row.availableAt > row.now) return { type: 'waits', wake: { at: row.availableAt } }
  return timedOut(where, wait)
}

/** A decision as an approval's row holds it. */
export interface Decision {
  readonly approved: boolean
  readonly by: string
  readonly at: string
  readonly comment?: string
  readonly payload?: unknown
}

/** The error of a step that was rejected. */
export function rejectionOf(
  { runId, name }: { readonly runId: string; readonly name: string },
  { by, at, comment }: Decision,
): BelayError {
  const why = comment === undefined ? '' : `: ${comment}`
  return attemptError(
    'approval_rejected',
    sentence(`Step "${name}" of run ${runId} was rejected by ${by} at ${at}${why}`),
    { runId, step: name },
  )
}

function timedOut({ runId, step }: WaitPlace, { kind, timeoutMs, onTimeout }: SignalWait): WaitStep {
  if (typeof onTimeout === 'function') {
    return {
      type: 'call',
      asks: 'onTimeout',
      handler: onTimeout,
      judge: (value) => ({ type: 'output', value }),
    }
  }
  if (onTimeout !== 'fail') return { type: 'output', value: onTimeout.output }
  const what = STEP_KINDS[kind].signal.noun
  const error = attemptError(
    'signal_timeout',
    `Step "${step.name}" of run ${runId} waited ${durationText(timeoutMs ?? 0)} for its ${what}, which did not come. Raise \`timeout\`, or give \`onTimeout\` a stand-in.`,
    { runId, step: step.name },
  )
  return { type: 'threw', error }
}

function decidePoll({ runId, step }: WaitPlace, poll: Poll, row: WaitRow): WaitStep {
  const leftMs = timeLeftMs(poll, row)
  const judge = (answer: unknown): WaitAnswer => {
    if (!isNotYet(answer)) return { type: 'output', value: answer }
    if (leftMs > 0) return { type: 'waits', wake: { afterMs: Math.min(poll.everyMs, leftMs) } }
    const error = attemptError(
      'poll_timeout',
      `Step "${step.name}" of run ${runId} polled for ${durationText(poll.timeoutMs ?? 0)}, and every answer was "not yet". Raise \`timeout\`, or look at what it polls.`,
      { runId, step: step.name },
    )
    return { type: 'threw', error }
  }
  return { type: 'call', asks: 'until', handler: step.run!, judge }
}

function timeLeftMs({ timeoutMs }: Poll, { waitingSince, now }: WaitRow): number {
  if (timeoutMs === null) return Number.POSITIVE_INFINITY
  return waitingSince === null ? timeoutMs : waitingSince + timeoutMs - now
}
