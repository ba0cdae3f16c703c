import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'
import { buildGraph, diffShapes, toMermaid } from '../../src/graph/index.ts'
import { parallelToPivot } from '../../src/graph/pivots.ts'
import { acyclicGraphs } from '../graph/random-graphs.ts'

const run = () => 1
const items = () => [1]

const transfer = define('transfer', { version: 1 })
  .step('reserve', { run, compensate: run })
  .step('send', { dependsOn: ['reserve'], pivot: true, run })
  .step('mail', { dependsOn: ['send'], irreversible: true, run })
  .map('book', { dependsOn: ['send'], over: items, irreversible: true, run })

describe('an irreversible step', () => {
  it('is marked in the shape, and so are the items of a map', () => {
    const marked = transfer.record.shape.steps.filter(({ irreversible }) => irreversible)
    expect(marked.map(({ name }) => name).sort()).toEqual(['book[]', 'mail'])
    expect(toMermaid(transfer)).toContain('mail ⊘')
  })

  it('takes no compensation', () => {
    expect(() =>
      define('w', { version: 1 }).step('mail', { irreversible: true, run, compensate: run }),
    ).toThrow(
      'Workflow "w", step "mail": irreversible and compensate are both given. If compensate can undo the step, remove irreversible; otherwise remove compensate.',
    )
  })

  it('must be true or false', () => {
    expect(() =>
      define('w', { version: 1 }).step('mail', { irreversible: 'yes' as unknown as boolean, run }),
    ).toThrow('irreversible is "yes", and must be true or false.')
  })
})

describe('a pivot', () => {
  it('is marked in the shape, and known to the steps after it', () => {
    const { steps, graph, record } = transfer
    const send = graph.numberOf('send')!
    expect(record.shape.steps.filter(({ pivot }) => pivot).map(({ name }) => name)).toEqual(['send'])
    expect(steps[graph.numberOf('mail')!]!.pivotsBefore).toEqual([send])
    expect(steps[graph.numberOf('book[]')!]!.map).toMatchObject({ item: { pivotsBefore: [send] } })
    expect(steps[send]!.pivotsBefore).toEqual([])
    expect(toMermaid(transfer)).toContain('send ⚑')
  })

  it('refuses the first step that is parallel to it', () => {
    const parallel = transfer.step('audit', { dependsOn: ['reserve'], run })
    expect(() => parallel.record).toThrow(
      'Workflow "transfer", step "audit": it is parallel to the pivot "send". Let "send" depend on it, or let it depend on "send": every step must come before or after a pivot.',
    )
    const map = define('w', { version: 1 })
      .step('send', { pivot: true, run })
      .map('pages', { over: items, run })
    expect(() => map.record).toThrow('step "pages": it is parallel to the pivot "send"')
  })

  it('may be followed by another one', () => {
    const two = transfer.step('close', { dependsOn: ['mail', 'book'], pivot: true, run })
    const last = two.step('tell', { dependsOn: ['close'], run })
    const tell = last.steps.find(({ name }) => name === 'tell')!
    expect(tell.pivotsBefore).toEqual([last.graph.numberOf('send'), last.graph.numberOf('close')])
  })

  it('is refused exactly if another step is neither before nor after it', () => {
    fc.assert(
      fc.property(acyclicGraphs, fc.array(fc.nat(24), { maxLength: 3 }), (nodes, chosen) => {
        const graph = buildGraph('w', nodes)
        const pivots = [...new Set(chosen.map((number) => number % graph.size))].sort((a, b) => a - b)
        const after = graph.dependencies.map(() => new Set<number>())
        graph.dependencies.forEach((below, number) => {
          for (const dependency of below) {
            after[number]!.add(dependency)
            for (const earlier of after[dependency]!) after[number]!.add(earlier)
          }
        })
        const parallel = pivots.some((pivot) =>
          after.some((_, other) => other !== pivot && !after[other]!.has(pivot) && !after[pivot]!.has(other)),
        )
        expect(parallelToPivot('w', graph, pivots) !== undefined).toBe(parallel)
      }),
    )
  })
})

describe('both marks', () => {
  it('change the checksum only if they are set', () => {
    const plain = define('w', { version: 1 }).step('a', { run })
    const unset = define('w', { version: 1 }).step('a', { run, irreversible: false, pivot: false })
    const set = define('w', { version: 1 }).step('a', { run, irreversible: true, pivot: true })
    expect(unset.record).toEqual(plain.record)
    expect(set.record.checksum).not.toBe(plain.record.checksum)
    expect(diffShapes(plain.record.shape, set.record.shape)).toEqual([
      '~ a: irreversible, a pivot, was plain',
    ])
    expect(diffShapes({ steps: [] }, set.record.shape)).toEqual([
      '+ step a (depends on nothing; irreversible; a pivot)',
    ])
  })

  it('are the same in a graph as data', () => {
    const graph = defineGraph(
      'transfer',
      {
        steps: {
          reserve: { handler: 'run', compensate: 'run' },
          send: { handler: 'run', pivot: true },
          mail: { handler: 'run', irreversible: true },
          book: { over: 'items', handler: 'run', irreversible: true },
        },
        dag: { send: ['reserve'], mail: ['send'], book: ['send'] },
      },
      { run, items },
    )
    expect(graph.record).toEqual(transfer.record)
  })
})

describe('a limit between heartbeats', () => {
  it('is set for a step, the items of a map, and a compensation on its own', () => {
    const { steps } = define('w', { version: 1, timeout: '1m' })
      .step('a', { run, heartbeatTimeout: '5s', compensate: run })
      .step('b', { run, compensate: { run, heartbeatTimeout: '7s' } })
      .map('c', { over: items, run, heartbeatTimeout: 200 })
    const named = (name: string) => steps.find((step) => step.name === name)!
    expect(named('a')).toMatchObject({ heartbeatMs: 5_000, compensation: { heartbeatMs: null } })
    expect(named('b')).toMatchObject({ heartbeatMs: null, compensation: { heartbeatMs: 7_000 } })
    expect(named('c[]').map).toMatchObject({ item: { heartbeatMs: 200 } })
  })

  it('must be a duration greater than 0', () => {
    expect(() => define('w', { version: 1 }).step('a', { run, heartbeatTimeout: 0 })).toThrow(
      'Workflow "w", step "a": heartbeatTimeout is 0',
    )
  })
})
