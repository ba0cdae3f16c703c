import type { DefinitionError } from '../errors.ts'
import { definitionError } from './place.ts'

/**
 * Finds a cycle among the nodes that are missing in the topological order. Each node depends on the next, and the last on the first. Begins with
 * the smallest node.
 */
export function findCycle(
  dependencies: readonly (readonly number[])[],
  ordered: readonly number[],
): number[] {
  const inOrder = new Set(ordered)
  const path: number[] = []
  const positionOf = new Map<number, number>()
  // Each missing node depends on another missing node, so a walk along dependencies must reach a node twice.
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

// The message shows only both ends of a longer cycle: the definition has the steps between.
const SHOWN_MAX = 20

/** The error for a cycle of steps. `cycle` names each step once. */
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
