import {
  type CaseCondition,
  type DefinitionShape,
  isItem,
  type SavedDefinition,
  type StepKind,
  type StepShape,
  templateOf,
} from '../../adapter/index.ts'
import { isOpenerName, mapNameOf } from '../../definition/map-draft.ts'
import { skippableSteps } from '../../graph/skippable.ts'

/** A step of a stored workflow, as its author wrote it: a map or a loop is one step. */
export interface WorkflowStep {
  readonly name: string
  /**
   * What the step does: `work` calls a handler, `choose` picks a case, `map` and `repeat` call one for each item or round, `sleep`, `signal`, `approval`,
   * `poll` and `child` wait. A newer release may have stored a kind that this one does not know.
   */
  readonly kind: Exclude<StepKind, 'join'>
  /** Names of the steps on which it depends. */
  readonly dependsOn: readonly string[]
  /** When its undo is called: never, as it has none; once it has completed; or also if it has only started. Of a map or a loop: the undo of its items. */
  readonly compensate: 'never' | 'completed' | 'started'
  /** One call undoes all items of the map. */
  readonly compensatesAll: boolean
  /** Once it has completed, the run goes forward only. */
  readonly pivot: boolean
  /** Nothing can undo its effect. */
  readonly irreversible: boolean
  /** Each item of the map, or round of the loop, is a run of another workflow. True for `child` too. */
  readonly children: boolean
  /** The cases of a choice, sorted; empty for other steps. */
  readonly cases: readonly string[]
  /** Its own condition: a function, or the cases that choices must have. Undefined if it has none. */
  readonly when: 'function' | readonly CaseCondition[] | undefined
  /** The step may be skipped, by its own condition or with a step on which it depends. */
  readonly skippable: boolean
  /** What becomes of the run if the step fails for good; of a map or a loop, if an item fails. */
  readonly onFailure: 'stop' | 'continue'
}

/** The steps of a definition by their users' names, each after those on which it depends. */
export function workflowSteps({ shape }: Pick<SavedDefinition, 'shape'>): readonly WorkflowStep[] {
  const skippable = skippableSteps(shape)
  return shape.steps.flatMap((step, number) => {
    // The step that gathers the items has the map's name; the one that decides them has everything else of the map.
    if (isOpenerName(step.name)) return []
    const written = writtenShape(shape, step)
    return [
      workflowStep(shape, step.name, { ...written, pivot: written.pivot || step.pivot }, skippable[number]!),
    ]
  })
}

function writtenShape({ steps }: DefinitionShape, step: StepShape): StepShape {
  if (step.kind !== 'join') return step
  const [opener] = step.dependsOn.map((number) => steps[number]!).filter(({ name }) => isOpenerName(name))
  return opener ?? step
}

function workflowStep(
  { steps }: DefinitionShape,
  name: string,
  written: StepShape,
  skippable: boolean,
): WorkflowStep {
  const { dependsOn, compensate, compensateAll, pivot, irreversible, children, cases = [], when } = written
  const kind = (written.kind ?? 'work') as WorkflowStep['kind']
  return {
    name,
    kind,
    dependsOn: dependsOn.map((number) => userName(steps[number]!.name)),
    compensate,
    compensatesAll: compensateAll === true,
    pivot: pivot === true,
    irreversible: irreversible === true,
    children: children === true || kind === 'child',
    cases,
    when,
    skippable,
    onFailure: written.onFailure ?? 'stop',
  }
}

function userName(name: string): string {
  return isOpenerName(name) ? mapNameOf(name) : name
}

/** The kind by which people know a step: both rows of a map are the map, and an item works or starts a child. */
export function kindOf(shapes: readonly StepShape[], step: number): WorkflowStep['kind'] {
  const shape = shapes[templateOf(step)]
  if (isItem(step)) return shape?.children === true ? 'child' : 'work'
  if (shape?.kind !== 'join') return shape?.kind ?? 'work'
  return shapes[shape.dependsOn[0]!]!.kind === 'repeat' ? 'repeat' : 'map'
}
