import type { DefinitionShape, DrainedRun, StepShape, UndoPlan } from '../../adapter/index.ts'
import type { StepGraph } from '../../graph/graph.ts'

/**
 * Plans what to undo in a drained run, and in which order: a pure function of the graph and the steps' statuses.
 *
 * A step's undo waits for the undos of its dependents. A step with nothing to undo, between two that have something to undo, becomes a relay: so
 * the plan needs no other edges than the definition's. (Otherwise two layers of 10,000 steps, joined by one step, would need 10^8 edges.)
 */
export function planUndo(graph: StepGraph, shape: DefinitionShape, run: DrainedRun): UndoPlan {
  const owed = run.steps.map(
    (step, number) =>
      run.stop !== 'abandonment' &&
      owesUndo(begunOnly(step, shape.steps[number]!), shape.steps[number]!.compensate),
  )
  const below = spread(owed, graph.dependencies, ascending(graph.size))
  const above = spread(owed, graph.dependents, ascending(graph.size).reverse())
  const takesPart = owed.map((owes, number) => owes || (below[number]! && above[number]!))
  const undos = ascending(graph.size)
    .filter((number) => takesPart[number])
    .map((step) => ({ step, openDependents: graph.dependents[step]!.filter((n) => takesPart[n]).length }))
  return { runId: run.runId, fences: run.fences, endsAs: endOf(run, undos.length), undos }
}

/** Tells whether a step's compensation must be called, given its status when its run was drained. */
export function owesUndo(
  {
    status,
    started,
    succeeded = false,
  }: Pick<DrainedRun['steps'][number], 'status' | 'started' | 'succeeded'>,
  compensate: StepShape['compensate'],
): boolean {
  if (compensate === 'never') return false
  // The step certainly took effect, with or without a stored output.
  if (status === 'completed' || succeeded) return true
  return compensate === 'started' && started && (status === 'failed' || status === 'cancelled')
}

/** A step whose own `when` has not said yes never began, even if an attempt that asked was lost with its worker. */
function begunOnly(
  step: DrainedRun['steps'][number],
  { when }: StepShape,
): Pick<DrainedRun['steps'][number], 'status' | 'started' | 'succeeded'> {
  return when === 'function' && step.decided !== true ? { ...step, started: false } : step
}

function endOf(run: DrainedRun, undos: number): UndoPlan['endsAs'] {
  if (run.stop !== 'failure') return 'cancelled'
  return undos === 0 ? 'failed' : 'compensated'
}

/** For each step: whether a step that owes an undo can be reached from it over `neighbours`. `order` visits neighbours first. */
function spread(
  owed: readonly boolean[],
  neighbours: readonly (readonly number[])[],
  order: readonly number[],
): readonly boolean[] {
  const reached = new Array<boolean>(owed.length).fill(false)
  for (const number of order) {
    reached[number] = neighbours[number]!.some((n) => owed[n] || reached[n])
  }
  return reached
}

function ascending(size: number): number[] {
  return Array.from({ length: size }, (_, number) => number)
}
