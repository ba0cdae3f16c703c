import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DefinitionError } from '../../src/errors.ts'
import { buildGraph, DEPENDENCIES_MAX, type GraphNode, STEPS_MAX } from '../../src/graph/index.ts'
import { acyclicGraphs, shuffled } from './random-graphs.ts'

const build = (dag: Record<string, readonly string[]>) =>
  buildGraph(
    'w',
    Object.entries(dag).map(([name, dependsOn]) => ({ name, dependsOn })),
  )

describe('numbering', () => {
  it('takes the smallest name of those whose dependencies are all numbered', () => {
    const graph = build({ z: [], m: ['z'], b: ['m'], a: ['m'], y: [] })
    expect(graph.names).toEqual(['y', 'z', 'm', 'a', 'b'])
    expect(graph.dependencies).toEqual([[], [], [1], [2], [2]])
    expect(graph.dependents).toEqual([[], [2], [3, 4], [], []])
    expect(graph.numberOf('m')).toBe(2)
    expect(graph.numberOf('nobody')).toBeUndefined()
  })

  it('compares names by code unit, whatever the locale says', () => {
    expect(build({ a: [], B: [], a10: [], a9: [] }).names).toEqual(['B', 'a', 'a10', 'a9'])
  })

  it('accepts names of properties that every object has', () => {
    const graph = build({
      constructor: ['valueOf'],
      valueOf: [],
      hasOwnProperty: ['constructor', 'toString'],
      toString: [],
    })
    expect(graph.names).toEqual(['toString', 'valueOf', 'constructor', 'hasOwnProperty'])
  })

  it('is a topological order of every acyclic graph', () => {
    fc.assert(
      fc.property(acyclicGraphs, (nodes) => {
        const graph = buildGraph('w', nodes)
        expect([...graph.names].sort()).toEqual(nodes.map((node) => node.name).sort())
        for (const node of nodes) {
          const number = graph.numberOf(node.name)!
          const dependencies = graph.dependencies[number]!
          expect(dependencies.map((dependency) => graph.names[dependency]!).sort()).toEqual(
            [...node.dependsOn].sort(),
          )
          for (const dependency of dependencies) {
            expect(dependency).toBeLessThan(number)
            expect(graph.dependents[dependency]).toContain(number)
          }
        }
        expect(graph.dependents.flat()).toHaveLength(graph.dependencies.flat().length)
      }),
    )
  })

  it('is the same for the same graph written in another order', () => {
    const twice = acyclicGraphs.chain((nodes) => fc.tuple(fc.constant(nodes), shuffled(nodes)))
    fc.assert(
      fc.property(twice, ([nodes, again]) => {
        const [first, second] = [buildGraph('w', nodes), buildGraph('w', again)]
        expect(second.names).toEqual(first.names)
        expect(second.dependencies).toEqual(first.dependencies)
        expect(second.dependents).toEqual(first.dependents)
      }),
    )
  })

  it('numbers a chain of 10,000 in its order, also when it is written backwards', () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => ({
      name: `s${index}`,
      dependsOn: index === 0 ? [] : [`s${index - 1}`],
    }))
    const graph = buildGraph('w', chain.toReversed())
    expect(graph.names).toEqual(chain.map((node) => node.name))
  })

  it('numbers a fan of 10,000 between two steps', () => {
    const leaves = Array.from({ length: 10_000 }, (_, index) => `leaf${index}`)
    const graph = buildGraph('w', [
      { name: 'a-join', dependsOn: leaves },
      ...leaves.map((name) => ({ name, dependsOn: ['z-split'] })),
      { name: 'z-split', dependsOn: [] },
    ])
    expect(graph.numberOf('z-split')).toBe(0)
    expect(graph.numberOf('a-join')).toBe(10_001)
    expect(graph.dependents[0]).toHaveLength(10_000)
  })
})

describe('cycles', () => {
  it('are refused with their path', () => {
    expect(() => build({ c: ['a'], start: [], b: ['c', 'start'], a: ['b'] })).toThrow(
      'Workflow "w": its steps depend on each other in a circle: a → b → c → a (each depends on the next). Remove one of these dependencies.',
    )
  })

  it('are found behind steps that only depend on them', () => {
    expect(() => build({ a: ['b'], b: ['x'], x: ['y'], y: ['x'] })).toThrow('circle: x → y → x (')
  })

  it('are always found, and the path is a cycle', () => {
    fc.assert(
      fc.property(cyclicGraphs, (nodes) => {
        const path = cyclePath(nodes)
        expect(path.length).toBeGreaterThan(2)
        expect(path.at(-1)).toBe(path[0])
        expect(new Set(path).size).toBe(path.length - 1)
        path.slice(1).forEach((dependency, index) => {
          expect(nodes.find((node) => node.name === path[index])!.dependsOn).toContain(dependency)
        })
      }),
    )
  })

  it('of 10,000 steps are shown by both ends', () => {
    const circle = Array.from({ length: 10_000 }, (_, index) => ({
      name: `s${index}`,
      dependsOn: [`s${(index + 1) % 10_000}`],
    }))
    expect(() => buildGraph('w', circle)).toThrow('s0 → s1 → ')
    expect(() => buildGraph('w', circle)).toThrow('s9 → … 9980 more … → s9990')
    expect(() => buildGraph('w', circle)).toThrow('s9999 → s0 (')
  })
})

/** An acyclic graph in which some step now depends on one that depends on it. Few enough steps that the whole path is shown. */
const cyclicGraphs = acyclicGraphs
  .filter((nodes) => nodes.length <= 20 && nodes.some((node) => node.dependsOn.length > 0))
  .chain((nodes) =>
    fc.tuple(fc.constant(nodes), fc.constantFrom(...nodes.filter((node) => node.dependsOn.length > 0))),
  )
  .map(([nodes, from]): GraphNode[] => {
    const first = from.dependsOn[0]!
    return nodes.map((node) =>
      node.name === first ? { name: first, dependsOn: [...node.dependsOn, from.name] } : node,
    )
  })

function cyclePath(nodes: readonly GraphNode[]): string[] {
  try {
    buildGraph('w', nodes)
  } catch (error) {
    return /circle: (.*) \(each/.exec((error as Error).message)![1]!.split(' → ')
  }
  throw new Error('no cycle was found')
}

describe('an invalid graph is refused', () => {
  it.each<[string, readonly GraphNode[], string]>([
    ['no steps', [], 'Workflow "w": it has no steps. Define at least one.'],
    [
      'an unknown dependency',
      [
        { name: 'reserveStock', dependsOn: [] },
        { name: 'charge', dependsOn: ['reserve_stok'] },
      ],
      'Workflow "w", step "charge": it depends on "reserve_stok", which is not defined. Did you mean "reserveStock"? Defined steps: reserveStock, charge.',
    ],
    [
      'a doubled dependency',
      [
        { name: 'a', dependsOn: [] },
        { name: 'b', dependsOn: ['a', 'a'] },
      ],
      'Workflow "w", step "b": it depends on "a" twice. Name each dependency once.',
    ],
    [
      'a dependency on itself',
      [{ name: 'a', dependsOn: ['a'] }],
      'Workflow "w", step "a": it depends on itself.',
    ],
    [
      'a doubled name',
      [
        { name: 'a', dependsOn: [] },
        { name: 'a', dependsOn: [] },
      ],
      'Workflow "w", step "a": a step with this name is already defined.',
    ],
    [
      'an empty name',
      [{ name: '', dependsOn: [] }],
      'step name "" is not valid. A name must begin with a letter',
    ],
    ['a name that begins with a digit', [{ name: '1st', dependsOn: [] }], 'step name "1st" is not valid.'],
    ['a name with a space', [{ name: 'a b', dependsOn: [] }], 'step name "a b" is not valid.'],
    ['a name with a line end', [{ name: 'a\n', dependsOn: [] }], 'step name "a\\n" is not valid.'],
    ['a name of 129 characters', [{ name: 'x'.repeat(129), dependsOn: [] }], 'has 129 characters.'],
    ['a name that is no string', [{ name: 7 as never, dependsOn: [] }], 'step name 7 is not a string.'],
    [
      'a dependency that is no string',
      [{ name: 'a', dependsOn: [7 as never] }],
      'Workflow "w", step "a": a dependency is 7, and must be the name of a step.',
    ],
  ])('%s', (_, nodes, message) => {
    expect(() => buildGraph('w', nodes)).toThrow(DefinitionError)
    expect(() => buildGraph('w', nodes)).toThrow(message)
  })

  it('more steps than the limit', () => {
    const nodes = Array.from({ length: STEPS_MAX + 1 }, (_, index) => ({ name: `s${index}`, dependsOn: [] }))
    expect(() => buildGraph('w', nodes)).toThrow(
      `it has ${STEPS_MAX + 1} steps, and at most ${STEPS_MAX} are allowed.`,
    )
    expect(buildGraph('w', nodes.slice(1)).size).toBe(STEPS_MAX)
  })

  it('more dependencies than the limit', () => {
    const roots = Array.from({ length: 500 }, (_, index) => `root${index}`)
    const leaves = Array.from({ length: DEPENDENCIES_MAX / 500 + 1 }, (_, index) => `leaf${index}`)
    const nodes = [
      ...roots.map((name) => ({ name, dependsOn: [] })),
      ...leaves.map((name) => ({ name, dependsOn: roots })),
    ]
    expect(() => buildGraph('w', nodes)).toThrow(
      `have ${DEPENDENCIES_MAX + 500} dependencies in total, and at most ${DEPENDENCIES_MAX} are allowed.`,
    )
  })

  it('a name of the greatest length is accepted', () => {
    expect(buildGraph('w', [{ name: 'x'.repeat(128), dependsOn: [] }]).size).toBe(1)
  })

  it('with the step in the error, for a program to read', () => {
    expect(() => build({ a: ['a'] })).toThrow(
      expect.objectContaining({ code: 'invalid_definition', step: 'a' }),
    )
  })
})
