import { Graph } from '@dagrejs/graphlib'
import { checkNodes, type GraphNode } from './check.ts'
import { cycleError, findCycle } from './cycle.ts'
import type { StepGraph } from './graph.ts'
import { topologicalOrder } from './order.ts'

/**
 * Checks steps and compiles them to numbers. The numbering is a topological order that depends on names and dependencies alone: the same graph
 * written in another order is numbered the same.
 *
 * @throws DefinitionError for an empty graph, an invalid or duplicate name, an unknown or duplicate dependency, a step that depends on itself, a
 * cycle, too many steps or dependencies.
 */
export function buildGraph(workflow: string, nodes: readonly GraphNode[]): StepGraph {
  checkNodes(workflow, nodes)
  const ranked = rankedGraph(nodes)
  const order = topologicalOrder(ranked.dependencies, ranked.dependents)
  if (order.length < nodes.length) {
    throw cycleError(
      workflow,
      findCycle(ranked.dependencies, order).map((rank) => ranked.names[rank]!),
    )
  }
  return numbered(ranked, order)
}

interface RankedGraph {
  /** Sorted by code units. A step's rank is its index here. */
  readonly names: readonly string[]
  readonly dependencies: readonly (readonly number[])[]
  readonly dependents: readonly (readonly number[])[]
}

function rankedGraph(nodes: readonly GraphNode[]): RankedGraph {
  // Without a comparator sort() compares code units: a checksum must not depend on the locale.
  const names = nodes.map((node) => node.name).sort()
  const rankOf = new Map(names.map((name, rank) => [name, String(rank)]))
  // Ranks are the nodes' keys, because graphlib mistakes a name like "constructor" for an existing node.
  const graph = new Graph<undefined, string, undefined>()
  for (const [name, rank] of rankOf) graph.setNode(rank, name)
  for (const node of nodes) {
    const rank = rankOf.get(node.name)!
    for (const dependency of node.dependsOn) graph.setEdge(rankOf.get(dependency)!, rank)
  }
  return {
    names,
    dependencies: names.map((_, rank) => numbers(graph.predecessors(String(rank)))),
    dependents: names.map((_, rank) => numbers(graph.successors(String(rank)))),
  }
}

function numbers(keys: readonly string[] | undefined): number[] {
  return (keys ?? []).map(Number)
}

function numbered(ranked: RankedGraph, order: readonly number[]): StepGraph {
  const numberOfRank: number[] = []
  order.forEach((rank, number) => {
    numberOfRank[rank] = number
  })
  const renumbered = (ranks: readonly number[]) =>
    Object.freeze(ranks.map((rank) => numberOfRank[rank]!).sort((a, b) => a - b))
  const names = Object.freeze(order.map((rank) => ranked.names[rank]!))
  const numberByName = new Map(names.map((name, number) => [name, number]))
  const dependencies = Object.freeze(order.map((rank) => renumbered(ranked.dependencies[rank]!)))
  return Object.freeze({
    size: names.length,
    names,
    dependencies,
    dependents: Object.freeze(order.map((rank) => renumbered(ranked.dependents[rank]!))),
    roots: Object.freeze([...dependencies.keys()].filter((step) => dependencies[step]!.length === 0)),
    numberOf: (name: string) => numberByName.get(name),
  })
}
