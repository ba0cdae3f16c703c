import {
  type ChangedRun,
  type JsonText,
  type PlacedShape,
  placeRows,
  type RunChange,
  type RunToChange,
  type SavedDefinition,
  type StepStatus,
  type StoredRun,
  type StoredRunStatus,
  type StoredStep,
} from '../../adapter/index.ts'
import { planCancel } from './cancel.ts'
import { type Actor, changeOf } from './change-of.ts'
import { planDrop } from './drop.ts'
import { planGiveUpStep } from './give-up-step.ts'
import { limitItems } from './limit-items.ts'
import { planMigration } from './migrate.ts'
import { planPause, planResume } from './pause.ts'
import type { Plan } from './plan.ts'
import { isForward } from './refusal.ts'
import { planRetryRun } from './reopen.ts'
import { planRetryCompensation, planSkipCompensation } from './repair-undo.ts'
import { planRetryStep } from './retry-step.ts'
import { planPriority } from './set-priority.ts'
import { planSkipStep } from './skip-step.ts'
import { planUndoRun } from './undo-run.ts'

/** An operator's action on a run. The history records its `type`. */
export type Action =
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'cancel'; readonly compensate: boolean }
  | { readonly type: 'retry' }
  | { readonly type: 'set_priority'; readonly priority: number }
  | { readonly type: 'retry_step'; readonly step: string }
  | { readonly type: 'skip_step'; readonly step: string; readonly output: JsonText }
  | { readonly type: 'give_up_step'; readonly step: string; readonly reason: string }
  | { readonly type: 'retry_compensation'; readonly step: string }
  | { readonly type: 'skip_compensation'; readonly step: string }
  | { readonly type: 'migrate'; readonly definition: SavedDefinition }
  /** Ends a run whose code is gone, without an undo. Only development mode does this. */
  | { readonly type: 'drop' }
  /** Undoes a completed run, because its parent is undone. Only the engine does this. */
  | { readonly type: 'undo' }

/** What an operator's repair did to its step. */
export interface StepRepair {
  /** The step's status before and after. The same if there was nothing to change. */
  readonly from: StepStatus
  readonly to: StepStatus
  /** The other steps that may begin now, or may be undone now, because of it. */
  readonly next: readonly string[]
}

/** The result of an action. */
export interface ActionResult {
  /** False if there was nothing to change. */
  readonly changed: boolean
  readonly from: StoredRunStatus
  /** The run after the action. */
  readonly run: ChangedRun
  /** The action made steps claimable. */
  readonly queued: boolean
  /** Of an action on a step. */
  readonly repair?: StepRepair | undefined
  /** The run drains: its undo begins once none of its steps is in flight. */
  readonly drains: boolean
}

/**
 * Decides what an action changes: a pure function of the run's current state.
 *
 * @throws BelayError `action_refused` when the run's state does not allow the action, `invalid_option` for an unknown step.
 */
export function decideAction(found: RunToChange, action: Action, by: Actor): Decided {
  const placed = placeRows(found.shape, found.steps)
  return placed === null ? decideInOrder(found, action, by) : decidePlaced(found, placed, action, by)
}

interface Decided {
  readonly change: RunChange | null
  readonly answer: ActionResult
}

/** Decides on a run with items, whose rows' places differ from their numbers. */
function decidePlaced(
  found: RunToChange,
  { shape, numbers }: PlacedShape,
  action: Action,
  by: Actor,
): Decided {
  const rows = new Map(found.steps.map((row) => [row.step, row]))
  const steps = numbers.map((number, place) => ({ ...rows.get(number)!, step: place }))
  const limit = (plan: Plan) => limitItems(plan, { run: found.run, steps, placed: { shape, numbers } })
  const { change, answer } = decideInOrder({ ...found, shape, steps }, action, by, limit)
  if (change === null) return { change, answer }
  const numberOf = <Row extends { readonly step: number }>(row: Row): Row => ({
    ...row,
    step: numbers[row.step]!,
  })
  const history = change.history.map((entry) =>
    entry.step === null ? entry : { ...entry, step: numbers[entry.step]! },
  )
  return {
    change: { ...change, steps: change.steps.map(numberOf), queue: change.queue.map(numberOf), history },
    answer,
  }
}

/** Decides in terms of places: `found.steps[n]` is the row of `shape.steps[n]`. */
function decideInOrder(
  found: RunToChange,
  action: Action,
  by: Actor,
  limit: (plan: Plan) => Plan = (plan) => plan,
): Decided {
  const from = found.run.status
  const decided = planOf(found, action, by)
  const step = 'step' in action ? found.steps.find(({ name }) => name === action.step)! : null
  if (decided === null) {
    const run = asChanged(found, found.run)
    const repair = step === null ? undefined : { from: step.status, to: step.status, next: [] }
    return { change: null, answer: { changed: false, from, run, repair, queued: false, drains: false } }
  }
  // In an ended run, retryStep() retries the run.
  const retriesRun = action.type === 'retry_step' && !isForward(found.run)
  const plan = MAKES_BEGIN.has(action.type) || retriesRun ? limit(decided) : decided
  const change = changeOf(found, plan, { name: action.type, step: step?.step ?? null, ...by })
  const { definitionId = change.run.definitionId } = change.migration ?? {}
  const run = asChanged(found, { ...change.run, definitionId })
  const drains = change.run.status === 'compensating' && change.run.endsAs === null
  return {
    change,
    answer: {
      changed: true,
      from,
      run,
      repair: step === null ? undefined : repairOf(step, plan),
      queued: change.queue.length > 0 || change.queuesItems === true,
      drains,
    },
  }
}

function repairOf(step: StoredStep, { steps, queue }: Plan): StepRepair {
  const after = steps.find((changed) => changed.step === step.step)
  const next = queue.filter((queued) => queued.step !== step.step).map(({ name }) => name)
  return { from: step.status, to: after?.status ?? step.status, next }
}

/** Whether the action is decided without the items of a run that goes forward. */
export function leavesItems({ type }: Action): boolean {
  return type === 'pause' || type === 'resume'
}

/** Actions after which more items of a map may have to begin, or fewer. */
const MAKES_BEGIN: ReadonlySet<Action['type']> = new Set(['retry', 'retry_step', 'skip_step'])

function asChanged({ now }: RunToChange, run: StoredRun): ChangedRun {
  const { runId, definitionId, status, key, tags, createdAt, startAt, finishedAt } = run
  const durationMs = Math.max(0, Math.round((finishedAt ?? now) - Math.max(createdAt, startAt ?? createdAt)))
  return { runId, definitionId, status, key, tags, durationMs }
}

function planOf(found: RunToChange, action: Action, { reason }: Actor): Plan | null {
  switch (action.type) {
    case 'pause':
      return planPause(found)
    case 'resume':
      return planResume(found)
    case 'cancel':
      return planCancel(found, { compensate: action.compensate, reason })
    case 'set_priority':
      return planPriority(found, action.priority)
    case 'retry':
      return planRetryRun(found)
    case 'retry_step':
      return planRetryStep(found, action.step)
    case 'skip_step':
      return planSkipStep(found, action.step, action.output)
    case 'give_up_step':
      return planGiveUpStep(found, action.step, action.reason)
    case 'retry_compensation':
      return planRetryCompensation(found, action.step)
    case 'skip_compensation':
      return planSkipCompensation(found, action.step)
    case 'migrate':
      return planMigration(found, action.definition)
    case 'drop':
      return planDrop(found, reason)
    case 'undo':
      return planUndoRun(found, reason)
  }
}
