import type { NewRun } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'

/** The priorities of a new run and of its steps, as the store takes them: nothing for zeros. */
export function priorities(
  workflow: Pick<WorkflowDefinition, 'priority' | 'steps'> | undefined,
  given: number | undefined,
): Pick<NewRun, 'priority' | 'stepPriorities'> {
  const priority = given ?? workflow?.priority ?? 0
  const own = workflow === undefined ? NONE : stepPriorities(workflow.steps)
  if (priority === 0 && own === NONE) return NONE_SET
  return { priority, ...(own === NONE ? {} : { stepPriorities: own }) }
}

const NONE: readonly number[] = Object.freeze([])
const NONE_SET = Object.freeze({})

/** Looked at once for each definition: its steps never change. */
const known = new WeakMap<WorkflowDefinition['steps'], readonly number[]>()

function stepPriorities(steps: WorkflowDefinition['steps']): readonly number[] {
  const found = known.get(steps)
  if (found !== undefined) return found
  const own = steps.some(({ priority }) => priority > 0) ? steps.map(({ priority }) => priority) : NONE
  known.set(steps, own)
  return own
}
