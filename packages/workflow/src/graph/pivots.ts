import type { DefinitionError } from '../errors.ts'
import type { StepGraph } from './graph.ts'
import { definitionError } from './place.ts'

/**
 * The error for the first step that could run at the same time as a pivot; undefined if every step comes before or after each pivot. Numbers are a
 * topological order, so it is enough that each step depends, over other steps, on the last pivot of a smaller number, and that the next pivot depends
 * on it. If all steps between have a dependency from that pivot on, they all come after it.
 */
export function parallelToPivot(
  workflow: string,
  graph: StepGraph,
  pivots: readonly number[],
): DefinitionError | undefined {
  let next = 0
  for (let step = 0; step < graph.size; step += 1) {
    const before = pivots[next - 1]
    if (before !== undefined && !(graph.dependencies[step]!.at(-1)! >= before)) {
      return parallel(workflow, graph, { step, pivot: before })
    }
    if (pivots[next] === step) next += 1
    const after = pivots[next]
    if (after !== undefined && !(graph.dependents[step]![0]! <= after)) {
      return parallel(workflow, graph, { step, pivot: after })
    }
  }
  return undefined
}

function parallel(
  workflow: string,
  { names }: StepGraph,
  { step, pivot }: { readonly step: number; readonly pivot: number },
): DefinitionError {
  const [name, pivotName] = [named(names[step]!), named(names[pivot]!)]
  return definitionError(
    { workflow, step: name },
    `it is parallel to the pivot "${pivotName}". Let "${pivotName}" depend on it, or let it depend on "${pivotName}": every step must come before or after a pivot.`,
  )
}

/** The step that decides a map's items is named by its map. */
function named(name: string): string {
  return name.replace(/\[\]$/, '')
}
