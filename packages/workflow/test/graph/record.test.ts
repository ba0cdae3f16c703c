import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StepShape } from '../../src/adapter/records.ts'
import {
  buildGraph,
  definitionRecord,
  diffShapes,
  type GraphNode,
  shapeChecksum,
} from '../../src/graph/index.ts'
import { acyclicGraphs, shuffled } from './random-graphs.ts'

const recordOf = (nodes: readonly GraphNode[], compensate: Record<string, StepShape['compensate']> = {}) => {
  const graph = buildGraph('w', nodes)
  return definitionRecord({
    name: 'w',
    version: 3,
    graph,
    facts: (number) => ({ compensate: compensate[graph.names[number]!] ?? 'never' }),
  })
}
const shapeOf = (...given: Parameters<typeof recordOf>) => recordOf(...given).shape

const stock = { name: 'stock', dependsOn: [] }
const charge = { name: 'charge', dependsOn: ['stock'] }

describe('a record', () => {
  it('holds the name, the version, the shape by number and its checksum', () => {
    expect(recordOf([charge, stock], { stock: 'started' })).toEqual({
      name: 'w',
      version: 3,
      // Written down, so that no later release changes the checksums of definitions that stores hold.
      checksum: '124ea9fd890f4db1f9bf8c0385e4ed9d4cf7bbcc432ad85bd434105c7cd458e2',
      shape: {
        steps: [
          { name: 'stock', dependsOn: [], compensate: 'started' },
          { name: 'charge', dependsOn: [0], compensate: 'never' },
        ],
      },
    })
  })

  it('is the same for the same graph written in another order', () => {
    const twice = acyclicGraphs.chain((nodes) => fc.tuple(fc.constant(nodes), shuffled(nodes)))
    fc.assert(
      fc.property(twice, ([nodes, again]) => {
        expect(recordOf(again)).toEqual(recordOf(nodes))
      }),
    )
  })

  it('holds what a step waits for, also in its checksum', () => {
    const graph = buildGraph('w', [stock])
    const record = (kind?: StepShape['kind']) =>
      definitionRecord({ name: 'w', version: 1, graph, facts: () => ({ compensate: 'never', kind }) })
    expect(record('sleep').shape.steps).toEqual([
      { name: 'stock', dependsOn: [], compensate: 'never', kind: 'sleep' },
    ])
    expect(record().shape.steps).toEqual([{ name: 'stock', dependsOn: [], compensate: 'never' }])
    expect(record().checksum).toBe(recordOf([stock]).checksum)
    expect(new Set([record(), record('sleep'), record('signal')].map(({ checksum }) => checksum)).size).toBe(
      3,
    )
  })

  it('has the checksum of a shape whose keys a database has reordered', () => {
    const { shape, checksum } = recordOf([stock, charge])
    const reordered = {
      steps: shape.steps.map(({ name, dependsOn, compensate }) => ({
        compensate,
        dependsOn: [...dependsOn],
        name,
      })),
    }
    expect(shapeChecksum(reordered)).toBe(checksum)
  })

  it.each<[string, readonly GraphNode[], Record<string, StepShape['compensate']>]>([
    ['a step more', [stock, charge, { name: 'mail', dependsOn: [] }], {}],
    ['a dependency less', [stock, { name: 'charge', dependsOn: [] }], {}],
    ['another name', [stock, { name: 'pay', dependsOn: ['stock'] }], {}],
    ['a compensation', [stock, charge], { stock: 'completed' }],
    ['a compensation that is due earlier', [stock, charge], { stock: 'started' }],
  ])('has another checksum with %s', (_, nodes, compensate) => {
    expect(recordOf(nodes, compensate).checksum).not.toBe(recordOf([stock, charge]).checksum)
  })
})

describe('the difference of two shapes', () => {
  it('is empty for the same shape', () => {
    expect(diffShapes(shapeOf([stock, charge]), shapeOf([charge, stock]))).toEqual([])
  })

  it('lists removed, new and changed steps', () => {
    const stored = shapeOf([stock, charge, { name: 'fax', dependsOn: ['charge'] }])
    const current = shapeOf(
      [
        stock,
        { name: 'fraud', dependsOn: [] },
        { name: 'charge', dependsOn: ['stock', 'fraud'] },
        { name: 'mail', dependsOn: ['charge'] },
      ],
      { charge: 'completed', mail: 'started' },
    )
    expect(diffShapes(stored, current)).toEqual([
      '− step fax',
      '+ step fraud (depends on nothing)',
      '~ charge: depends on fraud, stock, was stock; compensates completed, was never',
      '+ step mail (depends on charge; compensates started)',
    ])
  })

  it('leaves out steps that only got another number', () => {
    const current = shapeOf([{ name: 'aaa', dependsOn: [] }, stock, charge])
    expect(diffShapes(shapeOf([stock, charge]), current)).toEqual(['+ step aaa (depends on nothing)'])
  })

  it('is empty exactly when the checksums are equal', () => {
    fc.assert(
      fc.property(acyclicGraphs, acyclicGraphs, (one, other) => {
        const [first, second] = [recordOf(one), recordOf(other)]
        expect(diffShapes(first.shape, second.shape).length === 0).toBe(first.checksum === second.checksum)
      }),
    )
  })
})
