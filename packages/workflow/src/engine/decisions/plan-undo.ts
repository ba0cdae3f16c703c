import type { DefinitionShape, DrainedRun, StepShape, UndoPlan } from '../../adapter/index.ts'
import type { StepGraph } from '../../graph/graph.ts'

/**
 * What is to be undone in a drained run, and in which order: a pure function of the graph and the steps' statuses.
 *
 * A step's undo waits for the undos of the steps that depended on it. Steps with nothing to undo that lie between two that have are relays:
 * they take part, so that an order over several edges needs no edges but the definition's own (a layer of 10,000 joined to another by one
 * step would otherwise need 10^8).
 */
export function planUndo(graph: StepGraph, shape: DefinitionShape, run: DrainedRun): UndoPlan {
  const owed = run.steps.map(
    (step, number) => run.stop !== 'abandonment' && owesUndo(step, shape.steps[number]!.compensate),
  )
  const below = spread(owed, graph.dependencies, ascending(graph.size))
  const above = spread(owed, graph.dependents, ascending(graph.size).reverse())
  const takesPart = owed.map((owes, number) => owes || (below[number]! && above[number]!))
  const undos = ascending(graph.size)
    .filter((number) => takesPart[number])
    .map((step) => ({ step, openDependents: graph.dependents[step]!.filter((n) => takesPart[n]).length }))
  return { runId: run.runId, fences: run.fences, endsAs: endOf(run, undos.length), undos }
}

/** Tells whether a step's compensation is to be called, given the status it had when its run was drained. */
export function owesUndo(
  {
    status,
    started,
    succeeded = false,
  }: Pick<DrainedRun['steps'][number], 'status' | 'started' | 'succeeded'>,
  compensate: StepShape['compensate'],
): boolean {
  if (compensate === 'never') return false
  // An effect that is known to be there, whatever became of the step's output since.
  if (status === 'completed' || succeeded) return true
  return compensate === 'started' && started && (status === 'failed' || status === 'cancelled')
}

function endOf(run: DrainedRun, undos: number): UndoPlan['endsAs'] {
  if (run.stop !== 'failure') return 'cancelled'
  return undos === 0 ? 'failed' : 'compensated'
}

/** For each step, whether one that owes an undo can be reached from it over `neighbours`; `order` visits neighbours first. */
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
