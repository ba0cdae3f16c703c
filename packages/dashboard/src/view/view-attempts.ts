import type { ViewAttempt } from '@belay/graph-view'
import type { RunAttempt, StepSnapshot, WorkflowStep } from '@belay/workflow'
import type { Texts } from './texts.ts'

/** The attempts of a step that are known one by one, oldest first: those that were kept, else the newest of each direction; and its wait. */
export function viewAttempts(
  step: StepSnapshot,
  written: Pick<WorkflowStep, 'compensate'> | undefined,
  kept: readonly RunAttempt[],
  texts: Texts,
): readonly ViewAttempt[] {
  const told = kept.flatMap((attempt) => keptAttempt(attempt, texts))
  const newest = [newestForward(step, written, texts), newestUndo(step, texts)].filter(
    // An attempt is kept when it ends: the one that goes on, and what an operator marked as undone, stand only in the step.
    (one) => one !== undefined && !told.some((other) => isSame(one, other)),
  )
  return [...told, ...newest, waitOf(step)]
    .filter((one) => one !== undefined)
    .toSorted((one, other) => one.startAt - other.startAt || ORDER[one.direction] - ORDER[other.direction])
}

const ORDER = { forward: 0, undo: 1 } as const

function isSame(one: ViewAttempt, other: ViewAttempt): boolean {
  return (
    one.direction === other.direction &&
    one.round === other.round &&
    one.attempt === other.attempt &&
    other.ended !== 'waiting'
  )
}

function keptAttempt(kept: RunAttempt, texts: Texts): readonly ViewAttempt[] {
  const { step, direction, round, attempt, startedAt, finishedAt, error } = kept
  // The step tells its wait, with its real end.
  if (kept.ended === 'waiting') return []
  const ended = ENDED[kept.ended]
  const endAt = finishedAt.getTime()
  const startAt = startedAt?.getTime() ?? endAt
  const told = error === undefined ? {} : { error: texts.error(error, step) }
  return [{ direction, round, attempt, startAt, endAt, ended, ...told }]
}

const ENDED: Readonly<Record<Exclude<RunAttempt['ended'], 'waiting'>, ViewAttempt['ended']>> = {
  completed: 'completed',
  skipped: 'skipped',
  compensated: 'completed',
  retrying: 'retrying',
  failed: 'failed',
  compensation_failed: 'failed',
  released: 'released',
  lost: 'lost',
  given_up: 'given_up',
}

function newestForward(
  step: StepSnapshot,
  written: Pick<WorkflowStep, 'compensate'> | undefined,
  texts: Texts,
): ViewAttempt | undefined {
  const { name, round, startedAt, finishedAt, attempts, error } = step
  if (startedAt === undefined || attempts === 0) return undefined
  const ended = endOfForward(step, written)
  const begun = {
    direction: 'forward',
    round,
    attempt: attempts,
    startAt: startedAt.getTime(),
    ended,
  } as const
  if (ended === 'running') return begun
  const told = error !== undefined && ended !== 'completed' ? { error: texts.error(error, name) } : {}
  return { ...begun, endAt: (finishedAt ?? startedAt).getTime(), ...told }
}

function endOfForward(
  { status, losses, failures, error, output, succeeded }: StepSnapshot,
  written: Pick<WorkflowStep, 'compensate'> | undefined,
): ViewAttempt['ended'] {
  switch (status) {
    case 'running':
      return 'running'
    case 'failed':
      return 'failed'
    case 'skipped':
      return failures > 0 ? 'failed' : 'skipped'
    case 'pending':
    case 'ready':
    case 'cancelled':
      if (failures === 0) return losses > 0 ? 'lost' : 'released'
      return 'retrying'
    case 'waiting':
    case 'completed':
      return 'completed'
    default:
      // The step does not say how its forward attempt ended before it was undone; only some are undone that failed.
      return error !== undefined && output === undefined && (succeeded || written?.compensate === 'started')
        ? 'failed'
        : 'completed'
  }
}

function newestUndo(step: StepSnapshot, texts: Texts): ViewAttempt | undefined {
  const { name, round, status, undo } = step
  if (undo?.startedAt === undefined) return undefined
  const { attempts, startedAt, finishedAt, skipped, failures, losses, error } = undo
  const begun = {
    direction: 'undo',
    round,
    attempt: Math.max(1, attempts),
    startAt: startedAt.getTime(),
  } as const
  const told = error === undefined ? {} : { error: texts.error(error, name) }
  if (status === 'compensating') {
    if (finishedAt === undefined) return { ...begun, ended: 'running' }
    const ended = failures > 0 ? 'retrying' : losses > 0 ? 'lost' : 'released'
    return { ...begun, endAt: finishedAt.getTime(), ended, ...told }
  }
  const endAt = (finishedAt ?? startedAt).getTime()
  if (status === 'compensation_failed') return { ...begun, endAt, ended: 'failed', ...told }
  return { ...begun, endAt, ended: skipped ? 'skipped' : 'completed', ...(skipped ? told : {}) }
}

function waitOf(step: StepSnapshot): ViewAttempt | undefined {
  const { status, round, attempts, waitingSince, signalledAt, startedAt, finishedAt } = step
  if (waitingSince === undefined) return undefined
  const startAt = waitingSince.getTime()
  const wait = {
    direction: 'forward',
    round,
    attempt: Math.max(1, attempts),
    startAt,
    ended: 'waiting',
  } as const
  const after = [signalledAt, startedAt, finishedAt].find((at) => at !== undefined && at.getTime() > startAt)
  if (after === undefined || (status === 'waiting' && signalledAt === undefined)) {
    return status === 'waiting' ? wait : { ...wait, endAt: startAt }
  }
  return { ...wait, endAt: after.getTime() }
}
