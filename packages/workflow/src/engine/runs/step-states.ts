import type { StatesOfSteps, StepShape, StepStatus } from '../../adapter/index.ts'
import { isOpenerName } from '../../definition/map-draft.ts'
import { kindOf, type WorkflowStep } from '../base/workflow-steps.ts'
import { type MapState, mapStates } from './map-state.ts'
import type { RunSnapshot, RunSummary } from './run-snapshot.ts'

/** A run in a list, with the states of its steps. */
export interface RunWithSteps extends RunSummary {
  /** In topological order. A map or a loop is one step. */
  readonly steps: readonly StepState[]
}

/** The state of one step of a workflow in a run: what a strip or a graph of steps draws. */
export interface StepState {
  readonly name: string
  readonly kind: WorkflowStep['kind']
  /**
   * Of a map or a loop: that of deciding its items, `running` while items are open, and that of its items' undo: `compensation_failed` if one is parked,
   * else `compensating` while one is open, else `compensated` if one was undone.
   */
  readonly status: StepStatus
  /** Only of a map or a loop: how many items are in which status. */
  readonly items: MapState | undefined
}

interface StateRow {
  readonly name: string
  readonly kind: WorkflowStep['kind']
  readonly status: StepStatus
  readonly itemKey?: string | undefined
}

/** The steps of a run that was read, a map or a loop as one step: from `runs.get()`, a handle's `status()` or `changes()`. */
export function stepStates({
  steps,
  maps,
}: {
  readonly steps: readonly StateRow[]
  readonly maps: RunSnapshot['maps']
}): readonly StepState[] {
  const openers = new Map(steps.filter(({ name }) => isOpenerName(name)).map((step) => [step.name, step]))
  return steps
    .filter(({ name, itemKey }) => itemKey === undefined && !isOpenerName(name))
    .map((step) => {
      const items = maps[step.name]
      const opener = openers.get(`${step.name}[]`)
      const status = items === undefined || opener === undefined ? step.status : shownOf(step, opener, items)
      return { name: step.name, kind: step.kind, status, items }
    })
}

/** A map is two rows: one decides its items, and one gathers their outputs. */
function shownOf(gathers: StateRow, decides: StateRow, { items, ended, statuses }: MapState): StepStatus {
  const undo = UNDO_STATUSES.find((status) => statuses[status] !== undefined)
  if (undo !== undefined) return undo
  if (gathers.status !== 'pending') return gathers.status
  if (decides.status !== 'completed') return decides.status
  return items > ended ? 'running' : gathers.status
}

const UNDO_STATUSES = ['compensation_failed', 'compensating', 'compensated'] as const

/** The same of a run in a list. */
export function statesOf(
  { steps, itemCounts }: StatesOfSteps,
  { shapes }: { readonly shapes: readonly StepShape[] },
): readonly StepState[] {
  const rows = steps.map(({ step, status }) => ({
    step,
    status,
    name: shapes[step]!.name,
    kind: kindOf(shapes, step),
  }))
  return stepStates({ steps: rows, maps: mapStates(rows, itemCounts) })
}
