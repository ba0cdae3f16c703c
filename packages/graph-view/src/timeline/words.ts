import { roundOf } from '../attempts.ts'
import type { ViewAttempt } from '../model.ts'
import { hasEffect, succeededItems } from '../state.ts'
import { countText, span } from '../time.ts'
import { undoBlockers, whyNoUndo } from '../undo.ts'
import type { Plan, PlannedRow } from './plan.ts'

/** What stands beside the bars of a forward row. */
export function forwardWords(plan: Plan, row: PlannedRow): string {
  const { at, round, run, stoppedAt } = plan
  const { step, state, attempts } = row
  if (roundOf(step, round) < round && attempts.length > 0) return `done in round ${step.round}, and kept`
  const last = attempts.at(-1)
  const count = attemptCount(plan, row)
  if (state.forward === 'ready') return 'waits for a worker or a slot'
  if (state.forward === 'failed') return count > 1 ? `gave up after ${count} attempts` : 'failed'
  if (state.forward === 'waiting')
    return last === undefined || last.ended === 'waiting'
      ? `waits, ${span(at - (last?.startAt ?? at))}`
      : retryWords(plan, row)
  if (state.forward === 'running') {
    if (step.items !== undefined) return itemWords(plan, row)
    return count > 1 ? `attempt ${count}` : ''
  }
  const isLate = stoppedAt !== undefined && (last?.endAt ?? 0) > stoppedAt && state.forward === 'completed'
  if (isLate)
    return hasEffect({ run, step, at, round }, 'completed') ? 'late success: to be undone' : 'late success'
  return [...lengthWords(plan, row, count)].join(' · ')
}

/** Begun attempts. If not all are known, the number of the last one tells. */
function attemptCount({ run, at, round }: Plan, { step, direction, attempts }: PlannedRow): number {
  const known = Math.max(attempts.length, attempts.at(-1)?.attempt ?? 0)
  if (at < run.readAt || round < run.rounds || step.items !== undefined) return known
  return Math.max(known, direction === 'forward' ? step.attempts : (step.undo?.attempts ?? 0))
}

function retryWords({ at, run }: Plan, { step }: PlannedRow): string {
  const { dueAt } = step
  if (at < run.readAt || dueAt === undefined || dueAt <= at) return 'is tried again soon'
  return `is tried again in ${span(dueAt - at)}`
}

function itemWords({ at, run }: Plan, { step }: PlannedRow): string {
  const { total, ended, some } = step.items!
  const count = (number: number) => number.toLocaleString('en-GB')
  if (at >= run.readAt) return `${count(ended)} of ${count(total)}`
  if (some.length < total) return countText(total, 'item')
  return `${count(some.filter(({ endAt }) => endAt !== undefined && endAt <= at).length)} of ${count(total)}`
}

function lengthWords(plan: Plan, { step, attempts }: PlannedRow, count: number): readonly string[] {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (first === undefined || last === undefined) return []
  const length = span((last.endAt ?? plan.at) - first.startAt)
  return [
    // Not all are known: nobody can tell when it began.
    first.attempt > 1 ? `the last ${length}` : length,
    ...(step.items === undefined ? [] : [countText(step.items.total, 'item')]),
    ...(count > 1 ? [`${count} attempts`] : []),
  ]
}

export function undoWords(plan: Plan, row: PlannedRow): string {
  const { undo } = row.state
  const count = attemptCount(plan, row)
  if (undo === 'undone') {
    const last = row.attempts.at(-1)
    return last?.ended === 'skipped' || row.step.undo?.skipped === true
      ? 'marked as undone'
      : lengthWords(plan, undoItems(row), count).join(' · ')
  }
  if (undo !== 'undoing') return ''
  const last = row.attempts.at(-1)
  if (last?.endAt !== undefined && last.endAt <= plan.at)
    return `is tried again soon · ${countText(count, 'attempt')}`
  return `attempt ${Math.max(1, count)}`
}

/** Of a map, only the items that had completed are undone. */
function undoItems(row: PlannedRow): PlannedRow {
  const { items } = row.step
  if (items === undefined) return row
  return {
    ...row,
    step: { ...row.step, items: { ...items, total: succeededItems(row.step, Number.POSITIVE_INFINITY) } },
  }
}

export function parkedWords(plan: Plan, row: PlannedRow): string {
  const since = row.attempts.at(-1)?.endAt
  const failures = Math.max(attemptCount(plan, row), 1)
  const times = failures === 1 ? 'once' : `${failures} times`
  const long = since === undefined ? '' : ` for ${span(plan.at - since)}`
  const error = errorOf(row.attempts, row.step.undo?.error)
  return `Parked${long}, failed ${times}${error === undefined ? '' : `: ${error}`}`
}

export function errorOf(attempts: readonly ViewAttempt[], newest: string | undefined): string | undefined {
  return attempts.findLast(({ error }) => error !== undefined)?.error ?? newest
}

/** What a row without bars says beside its name: why there is nothing to undo, or what its undo waits for. */
export function noteWords(plan: Plan, { step, state, nothing }: PlannedRow): string {
  const { run, at, round, drainedAt } = plan
  if (nothing) {
    const isOpen = state.forward === 'running' || state.forward === 'waiting'
    if (isOpen && step.compensate !== 'never') return 'has not ended yet: it is undone if it completes'
    return `nothing to undo: ${whyNoUndo(run, step, at, round)}`
  }
  if (drainedAt === undefined) return `waits until ${openWords(plan)}`
  const blockers = undoBlockers(run, step, at, round)
  return blockers.length === 0 ? 'is undone next' : `waits for the undo of ${list(blockers)}`
}

function openWords({ running }: Plan): string {
  if (running.length === 0) return 'the run is drained'
  return `${list(running)} ${running.length === 1 ? 'has' : 'have'} ended`
}

/** `a`, `a and b`, `a, b and 4 more`. */
function list(steps: readonly string[]): string {
  const shown = steps.length > 3 ? [...steps.slice(0, 2), `${steps.length - 2} more`] : steps
  if (shown.length < 2) return shown.join('')
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
