import type { StepDefinition, WorkflowDefinition } from '@belay/workflow'

/** What a definition says about the effect of a step. */
export interface StepEffect {
  readonly hasUndo: boolean
  /** Nothing can undo it, or nothing will: it is irreversible, or a pivot, or comes after one. */
  readonly stays: boolean
  /** Its effect commits with its outcome, or not at all. */
  readonly isTransactional: boolean
}

/** The effects of a workflow's steps and of its children's, by the names that tests use. */
export function effectsOfSteps(
  tested: WorkflowDefinition,
  others: readonly WorkflowDefinition[],
): ReadonlyMap<string, StepEffect> {
  const effects = new Map<string, StepEffect>()
  for (const definition of familyOf(tested, others)) {
    const prefix = definition.name === tested.name ? '' : `${definition.name}/`
    for (const step of definition.steps) {
      const executed = executedBy(step)
      if (childOf(executed) === undefined && takesEffect(step))
        effects.set(`${prefix}${executed.name}`, effectOf(step, executed))
    }
  }
  return effects
}

/** The end steps of a workflow and of its children, by the names that tests use. */
export function endStepsOf(
  tested: WorkflowDefinition,
  others: readonly WorkflowDefinition[],
): readonly string[] {
  return familyOf(tested, others).flatMap(({ followUp }) =>
    (followUp?.steps ?? []).filter(takesEffect).map(({ name }) => `${followUp!.name}/${name}`),
  )
}

/** A workflow, and its children as they are tested. */
function familyOf(
  tested: WorkflowDefinition,
  others: readonly WorkflowDefinition[],
): readonly WorkflowDefinition[] {
  const found = new Map<string, WorkflowDefinition>()
  const visit = (given: WorkflowDefinition): void => {
    const definition = others.find((one) => one.name === given.name && one.version === given.version) ?? given
    const id = `${definition.name}@${definition.version}`
    if (found.has(id)) return
    found.set(id, definition)
    for (const step of definition.steps) {
      const child = childOf(executedBy(step))
      if (child !== undefined) visit(child)
    }
  }
  visit(tested)
  for (const other of others) visit(other)
  return [...found.values()]
}

/** Of a map an item, of a loop a round. */
function executedBy(step: StepDefinition): StepDefinition {
  return step.map?.part === 'map' || step.map?.part === 'repeat' ? step.map.item : step
}

function childOf({ wait }: StepDefinition): WorkflowDefinition | undefined {
  return wait?.kind === 'child' && typeof wait.of !== 'string' ? (wait.of as WorkflowDefinition) : undefined
}

function takesEffect(step: StepDefinition): boolean {
  return executedBy(step).wait === null && step.cases === null && step.map?.part !== 'join'
}

function effectOf(step: StepDefinition, executed: StepDefinition): StepEffect {
  return {
    // A map may undo all its items in one call.
    hasUndo: executed.compensation !== null || step.compensation !== null,
    stays: executed.irreversible || step.irreversible || step.pivot || step.pivotsBefore.length > 0,
    isTransactional: executed.transaction !== null,
  }
}
