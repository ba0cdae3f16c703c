import type { RunToChange, StoredRun, StoredStep } from '../../src/adapter/index.ts'
import { planCancel } from '../../src/engine/control/cancel.ts'
import { planGiveUpStep } from '../../src/engine/control/give-up-step.ts'
import { planPause, planResume } from '../../src/engine/control/pause.ts'
import { planRetryRun } from '../../src/engine/control/reopen.ts'
import { planRetryCompensation, planSkipCompensation } from '../../src/engine/control/repair-undo.ts'
import { planRetryStep } from '../../src/engine/control/retry-step.ts'
import { planPriority } from '../../src/engine/control/set-priority.ts'
import { planSkipStep } from '../../src/engine/control/skip-step.ts'
import { planUndoRun } from '../../src/engine/control/undo-run.ts'
import { BelayError } from '../../src/errors.ts'
import type { MachineEvent, Run } from '../../src/machine/index.ts'
import { hasEnded } from '../../src/machine/outcomes.ts'
import { goesOn } from '../../src/machine/refusals.ts'
import { owes } from '../../src/machine/scope.ts'
import { shownRunStatus, shownStatus } from '../../src/machine/shown.ts'
import type { Unit } from '../../src/machine/state.ts'
import type { Driver } from './driver.ts'

/** A shape of plain steps, each with one row. */
export type Shape = RunToChange['shape']

/** Why the engine of today refuses this; `changed` or `unchanged` if it does not. */
export function answerOfToday(driver: Driver, shape: Shape, event: MachineEvent): string {
  const run = driver.load()
  const name = 'unit' in event ? String(run.units[event.unit]!.key) : ''
  try {
    return planOf(foundOf(run, shape), event, name) === null ? 'unchanged' : 'changed'
  } catch (thrown) {
    if (thrown instanceof BelayError) return thrown.message
    throw thrown
  }
}

function planOf(found: RunToChange, event: MachineEvent, name: string): unknown {
  switch (event.type) {
    case 'pause':
      return planPause(found)
    case 'resume':
      return planResume(found)
    case 'cancel':
      return planCancel(found, { compensate: event.compensate ?? true, reason: null })
    case 'retry':
      return planRetryRun(found)
    case 'undoRun':
      return planUndoRun(found, null)
    case 'setPriority':
      return planPriority(found, event.priority)
    case 'retryStep':
      return planRetryStep(found, name)
    case 'skipStep':
      return planSkipStep(found, name, null)
    case 'giveUp':
      return planGiveUpStep(found, name, event.reason)
    case 'retryUndo':
      return planRetryCompensation(found, name)
    case 'skipUndo':
      return planSkipCompensation(found, name)
    default:
      throw new Error(`${event.type} is no action of an operator.`)
  }
}

/** The rows that today's engine would have. */
function foundOf(run: Run, shape: Shape): RunToChange {
  const { root } = run
  const stop = goesOn(run) || root.status === 'completed' ? null : stopOf(root)
  const stored = {
    ...{ runId: run.id, workflow: 'w', version: 1, definitionId: 1, priority: run.priority },
    ...{ status: shownRunStatus(run), stop, cause: null, createdAt: 0, openSteps: 1, startAt: null },
    ...{ deadlineAt: null, parent: null, finishedAt: hasEnded(root) ? 1 : null },
    endsAs: root.of === null ? null : root.of === 'failed' ? 'compensated' : 'cancelled',
  } as unknown as StoredRun
  const units = shape.steps.map(({ name }) => root.units!.find(({ key }) => key === name)!)
  return { run: stored, steps: units.map((u, step) => rowOf(run, u, step)), shape, now: 1_000 }
}

function stopOf(root: Unit): StoredRun['stop'] {
  const cause = root.note?.cause
  if (cause?.failed === true) return 'failure'
  return cause?.keep === true ? 'abandonment' : 'cancellation'
}

function rowOf({ root }: Run, u: Unit, step: number): StoredStep {
  const isToUndo = root.status === 'undoing' && u.undo === null && owes(u)
  return {
    ...{ step, name: String(u.key), status: isToUndo ? 'compensating' : shownStatus(u), round: u.round },
    ...{ workerId: u.flying ? 'w' : null, undoOf: u.of },
    ...{ startedAt: u.forward.attempt > 0 ? 1 : null, finishedAt: null, availableAt: null },
    ...{ signalledAt: null, branch: null, undo: null, openDependencies: 0, succeeded: u.succeeded },
    ...{ attempts: 0, failures: 0, losses: 0, fence: 1, waitingSince: null, failingSince: null },
  } as unknown as StoredStep
}
