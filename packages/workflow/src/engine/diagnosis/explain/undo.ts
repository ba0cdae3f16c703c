import type { StepRecord } from '../../../adapter/index.ts'
import type { RunToExplain, StepReasoning } from './explanation.ts'
import {
  childOf,
  due,
  goneWorker,
  instant,
  lastError,
  listOf,
  nthAttempt,
  runOf,
  standingOf,
  times,
} from './forward.ts'
import { leftOutIn } from './items-left-out.ts'

/** Whether the step's undo has not ended. */
export function isUndoOpen({ status }: Pick<StepRecord, 'status'>): boolean {
  return status === 'compensating' || status === 'compensation_failed'
}

/** Explains what a step's undo waits for. */
export function explainUndo(found: RunToExplain, step: StepRecord): StepReasoning {
  const { name, availableAt } = step
  const failures = step.undo?.failures ?? 0
  const { told, ...last } = lastError(found.quote, name, step.undo?.error ?? null)
  if (step.status === 'compensation_failed') {
    const sentence = `The undo of "${name}" failed for good${told}: retry it once the cause is repaired, or mark it as undone once that was done by hand.${withoutOutput(step)}`
    return { step: name, reason: 'operator', sentence, ...last }
  }
  if (step.workerId !== null) return compensating(found, step)
  // In a paused run, each undo that has not begun has one more open dependency.
  if (dependentsOf(found, step).some(isUndoOpen)) return waitsForOthers(found, step)
  if (found.run.status === 'paused') {
    const sentence = `The undo of "${name}" does not begin until the run is resumed.`
    return { step: name, reason: 'paused', sentence }
  }
  if (failures > 0 && availableAt !== null && availableAt > found.now) {
    const sentence = `The undo of "${name}" failed ${times(failures)}${told} and is tried again at ${instant(availableAt)}. An operator may retry it now, mark it as undone once that was done by hand, or pause the run.`
    return { step: name, reason: 'retry', sentence, until: new Date(availableAt), ...last }
  }
  const child = childOf(found, step.step)
  if (child !== undefined && availableAt !== null && availableAt > found.now) {
    const sentence = `The undo of "${name}" waits for the undo of its child, ${standingOf(child)}.`
    return { step: name, reason: 'child', sentence, ...runOf(child) }
  }
  return due(found, step, `The undo of "${name}"`)
}

/** An operator needs this first when a compensation fails on a missing output. */
function withoutOutput({ succeeded, undoOf }: StepRecord): string {
  return succeeded && (undoOf === 'failed' || undoOf === 'cancelled')
    ? ' It is called without an output: what the step returned could not be stored.'
    : ''
}

function compensating(found: RunToExplain, step: StepRecord): StepReasoning {
  const { name } = step
  const startedAt = step.undo?.startedAt ?? null
  const gone = goneWorker(found, step)
  if (gone !== null) {
    return { step: name, reason: 'worker', sentence: `The undo of "${name}" was started by ${gone}` }
  }
  const since = startedAt === null ? '' : ` since ${instant(startedAt)}`
  const attempt = nthAttempt(step.undo?.attempts ?? 1)
  const sentence = `The undo of "${name}" has been running on worker ${step.workerId}${since}${attempt}.`
  return { step: name, reason: 'running', sentence }
}

/** Undone in reverse: it waits for the steps that depended on it. */
function waitsForOthers(found: RunToExplain, step: StepRecord): StepReasoning {
  const { name } = step
  const parked = firstParked(found, step)
  if (parked !== undefined) {
    const sentence = `"${name}" is undone after "${parked.name}", whose undo failed for good and waits for an operator.`
    return { step: name, reason: 'operator', sentence }
  }
  const open = dependentsOf(found, step).filter(isUndoOpen)
  const left = leftOutIn(found, (status) => isUndoOpen({ status }), step.step)
  return { step: name, reason: 'dependency', sentence: `"${name}" is undone after ${listOf(open, left)}.` }
}

/** The first parked step that must be undone before this one. */
function firstParked(found: RunToExplain, step: StepRecord): StepRecord | undefined {
  const seen = new Set<number>()
  const toVisit = [step]
  for (let next = toVisit.pop(); next !== undefined; next = toVisit.pop()) {
    for (const dependent of dependentsOf(found, next)) {
      if (seen.has(dependent.step) || !isUndoOpen(dependent)) continue
      if (dependent.status === 'compensation_failed') return dependent
      seen.add(dependent.step)
      toVisit.push(dependent)
    }
  }
  return undefined
}

function dependentsOf({ shape, steps }: RunToExplain, { step }: StepRecord): readonly StepRecord[] {
  return steps.filter((other) => shape.steps[other.step]!.dependsOn.includes(step))
}
