import {
  continuesPast,
  isTerminal,
  placeRows,
  type RunRecord,
  type StepRecord,
  type StepStatus,
} from '../../../adapter/index.ts'
import { limitReached, type RunCause } from '../../../cause.ts'
import { counted } from '../../../words.ts'
import { withoutWorker } from '../../base/run-capacity.ts'
import type { Explanation, RunToExplain, StepReason } from './explanation.ts'
import { explainForward, lastError } from './forward.ts'
import { explainLeftOut, leftOutIn } from './items-left-out.ts'
import { offeredFor } from './offered.ts'
import { explainFailure, explainSkip } from './skip.ts'
import { explainUndo, isUndoOpen } from './undo.ts'

/** Explains what a run waits for, in one sentence for each open step: a pure function of the store's rows. */
export function explainRun(found: RunToExplain): Explanation {
  const placed = placeRows(found.shape, found.steps)
  if (placed === null) return explainInOrder(found)
  const rows = new Map(found.steps.map((row) => [row.step, row]))
  const steps = placed.numbers.map((number, place) => ({ ...rows.get(number)!, step: place }))
  const places = new Map(placed.numbers.map((number, place) => [number, place]))
  const children = found.children?.map((child) => placedChild(child, places))
  const byPlace = <Row extends { readonly step: number }>(row: Row): Row => ({
    ...row,
    step: places.get(row.step) ?? NOWHERE,
  })
  const values = found.values?.map(byPlace)
  const limitWaits = found.limitWaits?.map(byPlace)
  const limitCircles = found.limitCircles?.map(byPlace)
  const leftOut = found.leftOut?.map((group) => ({ ...group, opener: places.get(group.opener)! }))
  const { shape } = placed
  return explainInOrder({ ...found, shape, steps, children, values, leftOut, limitWaits, limitCircles })
}

/** Of a row that the run does not have any more. */
const NOWHERE = -1

function placedChild(child: RunRecord, places: ReadonlyMap<number, number>): RunRecord {
  const { parent } = child
  if (parent === null || parent.step === null) return child
  return { ...child, parent: { ...parent, step: places.get(parent.step) ?? NOWHERE } }
}

/** Explains in terms of places: `found.steps[n]` is the row of `shape.steps[n]`. */
function explainInOrder(found: RunToExplain): Explanation {
  const { run, steps } = found
  const open = isTerminal(run.status) ? [] : steps.filter((step) => isOpen(step) || isParked(found, step))
  const explained = open.map((step) => {
    const told = isUndoOpen(step) ? explainUndo(found, step) : explainForward(found, step)
    const nobody = TIMED.has(told.reason) ? withoutWorker(found) : ''
    const item = step.itemKey === undefined ? {} : { itemKey: step.itemKey }
    const sentence = `${told.sentence}${nobody}`
    return { ...told, ...item, sentence, actions: offeredFor(found, step, told) }
  })
  return {
    runId: run.runId,
    workflow: run.workflow,
    version: run.version,
    status: run.status,
    sentence: `Run ${run.runId} ${standing(found, open.length + leftOpen(found))}.${isTerminal(run.status) ? afterTheEnd(found) : withoutWorker(found)}`,
    ...(run.cause === null ? {} : { cause: JSON.parse(run.cause) as RunCause }),
    actions: found.retries ?? [],
    steps: explained,
    more: explainLeftOut(found),
    skipped: steps.filter(({ status }) => status === 'skipped').map(explainSkip),
    continued: steps
      .filter(({ status }, place) => status === 'failed' && continuesPast(found.shape.steps[place]!))
      .map((step) => explainFailure(step, found.quote)),
    ...(found.followUp === undefined ? {} : { followUp: found.followUp }),
  }
}

/** Reasons whose sentences say when or after whom the step begins, as if somebody were there to begin it. */
const TIMED: ReadonlySet<StepReason> = new Set(['retry', 'timer', 'start', 'limit'])

/** What is said of the end steps of a run that has ended. */
function afterTheEnd(found: RunToExplain): string {
  const { shape, followUp } = found
  if (shape.endSteps !== true) return ''
  if (followUp !== undefined) return ` Its end steps: ${followUp.sentence.replace(/^R/, 'r')}`
  const nobody = withoutWorker(found)
  // Starting them needs no slot.
  return nobody === '' ? ' Its end steps are about to begin.' : ` Its end steps are to begin.${nobody}`
}

function isOpen(step: Pick<StepRecord, 'status'>): boolean {
  return isForwardOpen(step) || isUndoOpen(step)
}

/** How many open items were not read. */
function leftOpen(found: RunToExplain): number {
  if (isTerminal(found.run.status)) return 0
  return leftOutIn(found, (status) => isOpen({ status })) + leftParked(found)
}

function leftParked(found: RunToExplain): number {
  if (found.run.cause !== null) return 0
  const parked = found.leftOut?.filter(({ continues }) => !continues)
  return leftOutIn({ ...found, leftOut: parked }, (status) => status === 'failed')
}

/** It failed for good after a pivot, and the run does not go on past it. */
function isParked({ run, shape }: RunToExplain, { step, status }: StepRecord): boolean {
  return run.cause === null && status === 'failed' && !continuesPast(shape.steps[step]!)
}

function isForwardOpen({ status }: Pick<StepRecord, 'status'>): boolean {
  return status === 'pending' || status === 'ready' || status === 'running' || status === 'waiting'
}

function standing(found: RunToExplain, open: number): string {
  const { run } = found
  const count = (status: StepStatus) => countOf(found, (other) => other === status)
  switch (run.status) {
    case 'scheduled':
      return `${collectingOf(found)}is to start at ${new Date(run.startAt!).toISOString()}`
    case 'running':
      return `is going forward: of its ${counted(open, 'open step')}, ${count('running')} ${count('running') === 1 ? 'is' : 'are'} running`
    case 'waiting':
      return `is waiting: nothing can be done now in its ${counted(open, 'open step')}`
    case 'parked':
      return parkedStanding(found, open)
    case 'paused':
      return pausedStanding(found)
    case 'compensating':
      return undoStanding(found)
    case 'compensation_failed':
      return `is parked${because(found)}: ${counted(count('compensation_failed'), 'undo')} failed for good, and ${counted(count('compensated'), 'step')} ${count('compensated') === 1 ? 'is' : 'are'} undone; an operator must retry or skip what failed`
    case 'completed':
      return 'has completed'
    case 'failed':
    case 'compensated':
    case 'cancelled':
      return `has ended as ${run.status}${because(found)}${mayBeRetried(found)}`
  }
}

function mayBeRetried({ run, retries = [] }: RunToExplain): string {
  const [retry] = retries
  if (retry === undefined) return ''
  return retry.run === run.runId
    ? '; an operator may retry it'
    : `; an operator may retry run ${retry.run} above it, which runs it again`
}

/** How many steps and items have such a status. */
function countOf(found: RunToExplain, has: (status: StepStatus) => boolean): number {
  return found.steps.filter(({ status }) => has(status)).length + leftOutIn(found, has)
}

/** What is said of a run that collects calls: `collects calls with key "a" until then (debounce, 3 calls so far), and `. */
function collectingOf({ collected, shape }: RunToExplain): string {
  if (collected == null || !collected.collecting) return ''
  const key = collected.key === '' ? '' : ` with key ${JSON.stringify(collected.key)}`
  return `collects calls${key} (${shape.collects}, ${counted(collected.calls, 'call')} so far), and `
}

/** Of a parked run, which has no cause: the step that failed first. */
function firstFailure(found: RunToExplain): string {
  const [first] = found.steps
    .filter((step) => isParked(found, step))
    .toSorted((one, other) => (one.finishedAt ?? 0) - (other.finishedAt ?? 0))
  return first === undefined
    ? ''
    : `, because "${first.name}" failed${lastError(found.quote, first.name, first.error).told}`
}

function parkedStanding(found: RunToExplain, open: number): string {
  const failed = found.steps.filter((step) => isParked(found, step)).length + leftParked(found)
  const others = open - failed
  return `is parked after its pivot${firstFailure(found)}: ${counted(failed, 'step')} failed for good, and nothing is undone; an operator must retry or skip what failed, and ${counted(others, 'other open step')} ${others === 1 ? 'goes' : 'go'} on`
}

/** Names the step that failed: `, because "charge" failed (TypeError: no card)`. Of a cancellation the fields of the explanation tell. */
function because({ run: { cause }, quote }: RunToExplain): string {
  if (cause === null) return ''
  const told = JSON.parse(cause) as RunCause
  switch (told.type) {
    case 'limit_reached':
      return `, because ${limitReached(told)}`
    case 'deadline':
      return `, because it missed its deadline, ${told.deadlineAt}`
    case 'step_failed': {
      const { step, error } = told
      return `, because "${step}" failed (${quote({ ...error, what: 'error', step })})`
    }
    case 'cancelled':
      return ''
  }
}

/** A paused run that was stopped has a cause. */
function pausedStanding(found: RunToExplain): string {
  if (found.run.cause === null)
    return 'was paused by an operator: none of its steps begins until it is resumed'
  const undos = countOf(found, (status) => isUndoOpen({ status }))
  return undos > 0
    ? `is being undone${because(found)}, and was paused by an operator: ${counted(undos, 'step')} to go, and no undo begins until it is resumed`
    : `was stopped${because(found)}, and is paused by an operator: its undo begins once it is resumed`
}

function undoStanding(found: RunToExplain): string {
  const inFlight = countOf(found, (status) => status === 'running')
  if (inFlight > 0)
    return `was stopped${because(found)}, and is undone once ${counted(inFlight, 'running step')} ${inFlight === 1 ? 'has' : 'have'} ended`
  const undos = countOf(found, (status) => isUndoOpen({ status }))
  if (undos > 0) return `is being undone${because(found)}: ${counted(undos, 'step')} to go`
  // Any worker with the definition plans the undo; it needs no slot.
  const stopped = `was stopped${because(found)}`
  return withoutWorker(found) === ''
    ? `${stopped}, and is about to be undone`
    : `${stopped}, and is to be undone`
}
