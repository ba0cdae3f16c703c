import type { DefinitionError } from '../errors.ts'
import { definitionError } from './place.ts'

/**
 * A cycle among the nodes that a topological order had to leave out: each depends on the next, and the last on the first.
 * Begins with its smallest node.
 */
export function findCycle(
  dependencies: readonly (readonly number[])[],
  ordered: readonly number[],
): number[] {
  const inOrder = new Set(ordered)
  const path: number[] = []
  const positionOf = new Map<number, number>()
  // Each node left out waits for another left out, so a walk along dependencies must meet itself.
  let node: number | undefined = dependencies.findIndex((_, candidate) => !inOrder.has(candidate))
  while (node !== undefined && !positionOf.has(node)) {
    positionOf.set(node, path.length)
    path.push(node)
    node = dependencies[node]!.find((dependency) => !inOrder.has(dependency))
  }
  if (node === undefined)
    throw new Error('Broken invariant: a node outside the order has no dependency outside it.')
  return rotatedToSmallest(path.slice(positionOf.get(node)))
}

function rotatedToSmallest(cycle: readonly number[]): number[] {
  const start = cycle.reduce((best, node, index) => (node < cycle[best]! ? index : best), 0)
  return [...cycle.slice(start), ...cycle.slice(0, start)]
}

// Of a longer cycle the message shows both ends: the steps between can be read in the definition.
const SHOWN_MAX = 20

/** The error for steps that wait for each other in a circle; `cycle` names each once. */
export function cycleError(workflow: string, cycle: readonly string[]): DefinitionError {
  const shown =
    cycle.length <= SHOWN_MAX
      ? cycle
      : [
          ...cycle.slice(0, SHOWN_MAX / 2),
          `… ${cycle.length - SHOWN_MAX} more …`,
          ...cycle.slice(-SHOWN_MAX / 2),
        ]
  return definitionError(
    { workflow },
    `its steps depend on each other in a circle: ${[...shown, cycle[0]].join(' → ')} (each depends on the next). Remove one of these dependencies.`,
    { kind: 'cycle', cycle: Object.freeze([...cycle]) },
  )
}
