import { describe, expect, it } from 'vitest'
import { define, defineGraph, unchecked } from '../../src/definition/index.ts'

const base = define('w', { version: 1, input: unchecked<{ list: number[] }>() })
const child = define('c', { version: 1 }).step('only', { run: () => 1 })
const list = () => [1]

describe('a fan of children', () => {
  it('is a map in the shape, whose items have children that are undone', () => {
    const { shape } = base.workflow('each', child, { over: list, onFailure: 'collect' }).record

    expect(shape.steps).toEqual([
      {
        name: 'each[]',
        dependsOn: [],
        kind: 'map',
        compensate: 'started',
        children: true,
        onFailure: 'continue',
      },
      { name: 'each', dependsOn: [0], kind: 'join', compensate: 'never' },
    ])
  })

  it('is written in code and as data, with the same shape', () => {
    const graph = {
      steps: { each: { workflow: 'c', over: 'list', concurrency: 3, detached: true } },
      dag: {},
    } as const
    const data = defineGraph('w', graph, { list })

    const inCode = base.workflow('each', 'c', { over: list, concurrency: 3, detached: true })
    expect(data.record).toEqual(inCode.record)
    expect(data.runnable).toBe(true)
    expect(defineGraph('w', graph).runnable).toBe(false)
  })

  it('is another shape than a map, and than a fan whose children are not undone', () => {
    const checksums = [
      base.workflow('each', child, { over: list }),
      base.workflow('each', child, { over: list, detached: true }),
      base.map('each', { over: list, run: list, compensate: list, compensateOn: 'started' }),
    ].map(({ record }) => record.checksum)

    expect(new Set(checksums).size).toBe(3)
  })

  it('refuses options that no fan has, and values that they cannot have', () => {
    const refused = (options: object) => () => base.workflow('each', child, options as never)

    expect(refused({ over: 3 })).toThrow('over is 3, and must be a function.')
    expect(refused({ over: list, itemKey: 'a' })).toThrow('itemKey is "a", and must be a function.')
    expect(refused({ over: list, concurrency: 0 })).toThrow('concurrency')
    expect(refused({ over: list, minSuccess: 1 })).toThrow("onFailure: 'collect'")
    expect(refused({ over: list, compensateAll: list })).toThrow('compensateAll')
    expect(refused({ over: list, onFailure: 'continue' })).toThrow('onFailure')
    expect(refused({ over: list, key: 'k' })).toThrow('a key of its own')
    expect(refused({ concurrency: 2 })).toThrow('concurrency')
  })
})
