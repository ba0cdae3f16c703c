import type { NewRun } from '../../adapter/index.ts'

/** What says the priorities of its runs and of its steps: a definition, or the shape of one that this process has not. */
export interface Prioritised {
  readonly priority?: number | undefined
  readonly steps: readonly { readonly priority?: number | undefined }[]
}

/** The priorities of a new run and of its steps, as the store takes them: nothing for zeros. */
export function priorities(
  workflow: Prioritised,
  given: number | undefined,
): Pick<NewRun, 'priority' | 'stepPriorities'> {
  const priority = given ?? workflow.priority ?? 0
  const own = stepPriorities(workflow.steps)
  if (priority === 0 && own === NONE) return NONE_SET
  return { priority, ...(own === NONE ? {} : { stepPriorities: own }) }
}

const NONE: readonly number[] = Object.freeze([])
const NONE_SET = Object.freeze({})

/** Looked at once for each definition: its steps never change. */
const known = new WeakMap<Prioritised['steps'], readonly number[]>()

function stepPriorities(steps: Prioritised['steps']): readonly number[] {
  const found = known.get(steps)
  if (found !== undefined) return found
  const all = steps.map(({ priority = 0 }) => priority)
  const own = all.some((priority) => priority > 0) ? all : NONE
  known.set(steps, own)
  return own
}
