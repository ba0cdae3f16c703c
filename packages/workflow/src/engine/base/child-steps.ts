import type { DefinitionShape, RunRecord, StepShape } from '../../adapter/index.ts'

const known = new WeakMap<DefinitionShape, boolean>()

/** Whether runs of this shape have children that share their fate. Looked up for every run that starts. */
export function hasChildren(shape: DefinitionShape): boolean {
  const found = known.get(shape)
  if (found !== undefined) return found
  const has = shape.steps.some(sharesFate)
  known.set(shape, has)
  return has
}

/** Whether the step, or each of its items, runs a child. */
export function runsChild({ kind, children }: StepShape): boolean {
  return kind === 'child' || children === true
}

/** Nobody waits for the child of a detached step, and nothing undoes it. */
export function sharesFate(step: StepShape): boolean {
  return runsChild(step) && step.compensate !== 'never'
}

/** Whether this run only takes the key of a child that was never started, so that nobody starts it any more. No other child of a step starts late. */
export function isBuried({ parent, startAt }: Pick<RunRecord, 'parent' | 'startAt'>): boolean {
  return parent !== null && parent.step !== null && startAt !== null
}
