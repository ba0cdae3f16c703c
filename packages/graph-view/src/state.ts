import { attemptsOf, indexOf, type RoundTimes, roundAt, roundOf, timesOf } from './attempts.ts'
import type { StepStatus, ViewAttempt, ViewRun, ViewStep } from './model.ts'

export type ForwardState = Exclude<StepStatus, 'compensating' | 'compensated' | 'compensation_failed'>
/** `to undo`: it will be undone. `parked`: its undo failed for good, and waits for an operator. */
export type UndoState = 'to undo' | 'undoing' | 'undone' | 'parked'

export interface StepState {
  readonly forward: ForwardState
  /** Undefined for a step that has nothing to undo, and in a run that has not stopped. */
  readonly undo: UndoState | undefined
}

/**
 * The state of a step at an instant, in the round that the run was in (or the given one), from its known attempts, its waits, the stop and the drain. From
 * `readAt` on it is what the model says. A step of which no attempt is known is shown as it ended from the instant at which it could begin.
 */
export function stateAt(run: ViewRun, step: ViewStep, at: number, round = roundAt(run, at)): StepState {
  const moment = { run, step, at, round, times: timesOf(run, round), isNow: isNow(run, at, round) }
  const forward = forwardAt(moment)
  return { forward, undo: undoAt(moment, forward) }
}

function isNow(run: ViewRun, at: number, round: number): boolean {
  return round >= run.rounds && at >= Math.min(run.readAt, run.finishedAt ?? run.readAt)
}

interface Moment {
  readonly run: ViewRun
  readonly step: ViewStep
  readonly at: number
  readonly round: number
  readonly times: RoundTimes
  /** Nothing later is known: the model's statuses hold. */
  readonly isNow: boolean
}

function forwardAt({ run, step, at, round, times, isNow }: Moment): ForwardState {
  const attempts = attemptsOf(step, 'forward', roundOf(step, round))
  const end = endOf(step, attempts, round)
  if (isNow) return end
  const begun = attempts.findLastIndex(({ startAt }) => startAt <= at)
  const last = attempts[begun]
  if (last === undefined) return beforeFirst({ run, step, at, round, times, isNow }, end, attempts.length > 0)
  if (last.endAt === undefined || at < last.endAt) return last.ended === 'waiting' ? 'waiting' : 'running'
  const between = last.ended === 'retrying' ? 'waiting' : 'ready'
  if (begun < attempts.length - 1 || OPEN.includes(end)) return between
  // When an operator skipped it or the stop cancelled it, it had been waiting until then.
  if (end === 'cancelled' || last.ended === 'retrying')
    return times.stoppedAt !== undefined && at >= times.stoppedAt ? end : between
  return end
}

const OPEN: readonly StepStatus[] = ['pending', 'ready', 'running', 'waiting']

/** How it went forward in the end. A status of an undo hides that: then its attempts tell. */
function endOf(step: ViewStep, attempts: readonly ViewAttempt[], round: number): ForwardState {
  const { status } = step
  const isUndo = status === 'compensating' || status === 'compensated' || status === 'compensation_failed'
  if (!isUndo && round >= step.round) return status
  const last = attempts.at(-1)
  if (last === undefined) {
    if (step.skipped !== undefined) return 'skipped'
    return round < step.round ? 'pending' : 'completed'
  }
  if (['failed', 'given_up', 'lost'].includes(last.ended)) return 'failed'
  return last.ended === 'retrying' || last.ended === 'released' ? 'cancelled' : 'completed'
}

function beforeFirst(moment: Moment, end: ForwardState, beginsLater: boolean): ForwardState {
  const { run, step, at, round, times } = moment
  const stopped = times.stoppedAt !== undefined && at >= times.stoppedAt
  if (end === 'cancelled') return stopped ? 'cancelled' : 'pending'
  if (at < readyAt(run, step, round)) return 'pending'
  if (beginsLater || OPEN.includes(end)) return stopped ? 'pending' : 'ready'
  return end
}

const ends = new WeakMap<ViewRun, Map<number, ReadonlyMap<string, number>>>()

/** When the last step that it depends on had ended: from then on it could begin. Infinity if that has not happened. */
export function readyAt(run: ViewRun, step: ViewStep, round: number): number {
  const byRound = ends.get(run) ?? new Map<number, ReadonlyMap<string, number>>()
  ends.set(run, byRound)
  const known = byRound.get(round) ?? endsOf(run, round)
  byRound.set(round, known)
  return latest(step, known, timesOf(run, round).startAt)
}

/** The steps are in topological order, so those that a step depends on come before it. */
function endsOf(run: ViewRun, round: number): ReadonlyMap<string, number> {
  const { startAt } = timesOf(run, round)
  const known = new Map<string, number>()
  for (const step of run.steps) {
    const attempts = attemptsOf(step, 'forward', roundOf(step, round))
    const end = endOf(step, attempts, round)
    const endedAt = attempts.at(-1)?.endAt ?? latest(step, known, startAt)
    known.set(step.name, OPEN.includes(end) || end === 'cancelled' ? Number.POSITIVE_INFINITY : endedAt)
  }
  return known
}

function latest(step: ViewStep, known: ReadonlyMap<string, number>, startAt: number): number {
  return step.dependsOn.reduce(
    (most, name) => Math.max(most, known.get(name) ?? Number.POSITIVE_INFINITY),
    startAt,
  )
}

function undoAt(moment: Moment, forward: ForwardState): UndoState | undefined {
  const { step, at, round, times, isNow } = moment
  if (times.stoppedAt === undefined || at < times.stoppedAt) return undefined
  const end = undoEnd(moment, forward)
  if (isNow) return end
  const attempts = attemptsOf(step, 'undo', roundOf(step, round))
  const begun = attempts.findLastIndex(({ startAt }) => startAt <= at)
  const last = attempts[begun]
  if (last === undefined) {
    const takesPart = attempts.length > 0 || end !== undefined
    return takesPart && hasEffect(moment, forward) ? 'to undo' : undefined
  }
  if (last.endAt === undefined || at < last.endAt) return 'undoing'
  if (last.ended === 'failed') return 'parked'
  return begun < attempts.length - 1 ? 'undoing' : (end ?? 'undoing')
}

/** The undo as it is in the end: of the newest round as the model says. */
function undoEnd(moment: Moment, forward: ForwardState): UndoState | undefined {
  const { step, round, times } = moment
  const attempts = attemptsOf(step, 'undo', roundOf(step, round))
  if (round < moment.run.rounds) {
    const last = attempts.at(-1)
    if (last === undefined) return undefined
    if (last.ended === 'failed') return 'parked'
    return last.ended === 'completed' || last.ended === 'skipped' ? 'undone' : 'undoing'
  }
  if (step.status === 'compensated') return 'undone'
  if (step.status === 'compensation_failed') return 'parked'
  if (step.status === 'compensating') {
    if (attempts.length > 0 || (step.undo?.attempts ?? 0) > 0) return 'undoing'
    // Without a compensation it only keeps the order of the others.
    return step.compensate === 'never' ? undefined : 'to undo'
  }
  // Once the run has drained, all that is undone has a status of an undo.
  return times.drainedAt === undefined && hasEffect(moment, forward) ? 'to undo' : undefined
}

/** Whether an undo that is planned now would call the compensation of this step. */
export function hasEffect(
  { run, step, at, round }: Pick<Moment, 'run' | 'step' | 'at' | 'round'>,
  forward: ForwardState,
): boolean {
  if (step.compensate === 'never' || step.kept || isPastPivot(run, at, round)) return false
  if (forward === 'completed') return step.items === undefined || succeededItems(step, at) > 0
  const begun = attemptsOf(step, 'forward', roundOf(step, round)).some(({ startAt }) => startAt <= at)
  if (step.items !== undefined && begun) return succeededItems(step, at) > 0
  return step.compensate === 'started' && begun && forward !== 'skipped'
}

/** After its pivot a run keeps what it did. */
export function isPastPivot(run: ViewRun, at: number, round: number): boolean {
  return indexOf(run).pivots.some((step) => {
    const moment = { run, step, at, round, times: timesOf(run, round), isNow: isNow(run, at, round) }
    return forwardAt(moment) === 'completed'
  })
}

/** How many items had completed at an instant. If only some items are known, it is the newest count. */
export function succeededItems({ items }: ViewStep, at: number): number {
  if (items === undefined) return 0
  const { completed = 0, compensating = 0, compensated = 0, compensation_failed = 0 } = items.statuses
  if (items.some.length < items.total) return completed + compensating + compensated + compensation_failed
  const failed: readonly StepStatus[] = ['failed', 'cancelled', 'skipped']
  return items.some.filter(
    ({ status, endAt }) => endAt !== undefined && endAt <= at && !failed.includes(status),
  ).length
}
