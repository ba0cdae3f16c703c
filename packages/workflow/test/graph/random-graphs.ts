import fc from 'fast-check'
import type { GraphNode } from '../../src/graph/index.ts'

/** Random acyclic graphs of up to 24 steps, written in random order. */
export const acyclicGraphs = fc
  .uniqueArray(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.:-]{0,3}$/), { minLength: 1, maxLength: 24 })
  .chain((names) =>
    fc
      .tuple(...names.map((_, index) => fc.subarray(names.slice(0, index))))
      .map((dependencies) => names.map((name, index) => ({ name, dependsOn: dependencies[index]! }))),
  )
  .chain(shuffled)

/** The same steps and dependencies, each list in another order. */
export function shuffled(nodes: readonly GraphNode[]): fc.Arbitrary<GraphNode[]> {
  return fc
    .tuple(permutation(nodes), fc.tuple(...nodes.map((node) => permutation(node.dependsOn))))
    .map(([order, dependencies]) =>
      order.map((node) => ({ name: node.name, dependsOn: dependencies[nodes.indexOf(node)]! })),
    )
}

function permutation<Item>(items: readonly Item[]): fc.Arbitrary<Item[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })
}
