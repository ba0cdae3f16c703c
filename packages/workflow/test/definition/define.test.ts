import { describe, expect, it } from 'vitest'
import { define, type Workflow } from '../../src/definition/index.ts'
import { DEFAULT_RETRY, type RetryOptions } from '../../src/definition/retry-policy.ts'
import { STEPS_MAX } from '../../src/graph/index.ts'

const run = () => null
const empty = define('w', { version: 1 })
/** As plain JavaScript sees it. */
type Untyped = { step(name: unknown, options?: unknown): Untyped & typeof empty }
/** For steps made in a loop, of which the compiler knows nothing. */
type Loose = Workflow<'w', unknown, Readonly<Record<string, unknown>>>

describe('a definition', () => {
  it('has its steps in canonical order, with the defaults', () => {
    const definition = define('checkout', { version: 7 })
      .step('stock', { run })
      .step('fraud', { run })
      .step('charge', { dependsOn: ['stock', 'fraud'], run })
    expect(definition.name).toBe('checkout')
    expect(definition.version).toBe(7)
    expect(definition.runnable).toBe(true)
    expect(definition.steps.map((step) => [step.number, step.name])).toEqual([
      [0, 'fraud'],
      [1, 'stock'],
      [2, 'charge'],
    ])
    expect(definition.steps[2]).toEqual({
      name: 'charge',
      number: 2,
      dependsOn: ['stock', 'fraud'],
      retry: {
        attempts: 4,
        backoff: 'exponential',
        initialMs: 1_000,
        maxMs: 30_000,
        jitter: true,
        forMs: null,
      },
      timeoutMs: null,
      heartbeatMs: null,
      lossesMax: 5,
      transaction: null,
      run,
      wait: null,
      map: null,
      when: null,
      onSkipped: 'skip',
      onFailure: 'stop',
      settled: null,
      cases: null,
      branch: null,
      compensation: null,
      irreversible: false,
      limits: null,
      pivot: false,
      pivotsBefore: [],
      priority: 0,
    })
    expect(definition.record).toMatchObject({ name: 'checkout', version: 7 })
    expect(definition.graph.dependencies).toEqual([[], [], [0, 1]])
  })

  it('is not changed by a further step', () => {
    const one = empty.step('a', { run })
    const two = one.step('b', { run })
    expect(one.steps.map((step) => step.name)).toEqual(['a'])
    expect(two.steps.map((step) => step.name)).toEqual(['a', 'b'])
    expect(one.record.checksum).not.toBe(two.record.checksum)
  })

  it('may branch: each branch has its own steps', () => {
    const trunk = empty.step('a', { run })
    const left = trunk.step('left', { run }).step('end', { dependsOn: ['left'], run })
    const right = trunk.step('right', { run }).step('end', { dependsOn: ['right'], run })
    expect(trunk.graph.names).toEqual(['a'])
    expect(left.graph.names).toEqual(['a', 'left', 'end'])
    expect(right.graph.names).toEqual(['a', 'right', 'end'])
    expect(() => (right as unknown as Untyped).step('x', { dependsOn: ['left'], run })).toThrow(
      'it depends on "left", which is not defined.',
    )
  })

  it('may branch where the other branch has the same step', () => {
    const trunk = empty.step('a', { run })
    const first = trunk.step('b', { run })
    const second = trunk.step('b', { dependsOn: ['a'], run })
    expect(first.graph.dependencies).toEqual([[], []])
    expect(second.graph.dependencies).toEqual([[], [0]])
  })

  it('does not follow changes of the objects it was made from', () => {
    const dependsOn = ['a']
    const definition = (empty.step('a', { run }) as unknown as Untyped).step('b', { dependsOn, run })
    dependsOn.push('nobody')
    expect(definition.steps[1]!.dependsOn).toEqual(['a'])
  })

  it('cannot be changed from outside', () => {
    const definition = empty.step('a', { run, compensate: run })
    expect(() => (definition.steps as unknown[]).push(1)).toThrow(TypeError)
    expect(() => Object.assign(definition.steps[0]!, { name: 'b' })).toThrow(TypeError)
    expect(() => Object.assign(definition.steps[0]!.compensation!, { on: 'started' })).toThrow(TypeError)
    expect(() => Object.assign(definition, { version: 2 })).toThrow(TypeError)
    expect(() => (definition.record.shape.steps as unknown[]).pop()).toThrow(TypeError)
  })

  it('without steps can be extended, but has no graph', () => {
    expect(() => empty.record).toThrow('Workflow "w": it has no steps. Define at least one.')
  })

  it('draws itself', () => {
    expect(empty.step('a', { run }).toMermaid({ statuses: { a: 'running' } })).toContain(
      's0["a<br/>running"]:::running',
    )
  })

  it('may be a chain of 10,000 steps, or a fan', () => {
    const names = Array.from({ length: 9_999 }, (_, n) => `leaf${n}`)
    let fan: Loose = empty
    fan = fan.step('root', { run })
    for (const name of names) fan = fan.step(name, { dependsOn: ['root'], run })

    const { dependencies } = chain(10_000).graph
    const { dependents, size } = fan.graph

    expect(dependencies.slice(1)).toEqual(names.map((_, n) => [n]))
    expect(size).toBe(10_000)
    expect(dependents[fan.graph.numberOf('root')!]).toHaveLength(9_999)
  })

  it('has a limited number of steps', () => {
    const full = chain(STEPS_MAX)
    expect(() => full.step('one-more', { run })).toThrow(
      `it has ${STEPS_MAX + 1} steps, and at most ${STEPS_MAX} are allowed.`,
    )
  })
})

function chain(length: number): Loose {
  let definition: Loose = empty
  for (let index = 0; index < length; index++) {
    const dependsOn: string[] = index === 0 ? [] : [`s${index - 1}`]
    definition = definition.step(`s${index}`, { dependsOn, run })
  }
  return definition
}

describe('a compensation', () => {
  it('has retries of its own, and the timeout of its step', () => {
    for (const retry of [false, { attempts: 9 }] as const) {
      const { steps } = empty.step('a', { run, compensate: run, retry, timeout: '5s' })
      expect(steps[0]!.compensation).toEqual({
        run,
        on: 'completed',
        retry: DEFAULT_RETRY,
        timeoutMs: 5_000,
        heartbeatMs: null,
        transaction: null,
      })
    }
  })

  it('inherits the retries of the workflow, but not retry: false', () => {
    const undo = (retry: RetryOptions | false) =>
      define('w', { version: 1, retry }).step('a', { run, compensate: run }).steps[0]!.compensation
    expect(undo({ attempts: 9, initial: '5s' })!.retry).toMatchObject({ attempts: 9, initialMs: 5_000 })
    expect(undo(false)!.retry).toEqual(DEFAULT_RETRY)
  })

  it('may have attempts of its own', () => {
    const { steps, record } = empty.step('a', {
      run,
      timeout: '5s',
      compensate: { run, retry: { attempts: 20, initial: '2s' }, timeout: false },
      compensateOn: 'started',
    })
    expect(steps[0]!.compensation).toMatchObject({
      on: 'started',
      retry: { attempts: 20, initialMs: 2_000 },
      timeoutMs: null,
    })
    expect(record.shape.steps[0]!.compensate).toBe('started')
  })
})

describe('defaults of the workflow', () => {
  const definition = define('w', {
    version: 1,
    retry: { retries: 1, initial: '5s' },
    timeout: '1m',
    lossesMax: 2,
  })
  const only = (options: object) =>
    (definition as unknown as Untyped).step('a', { run, ...options }).steps[0]!

  it('apply to steps without options of their own', () => {
    expect(only({})).toMatchObject({
      retry: { attempts: 2, initialMs: 5_000 },
      timeoutMs: 60_000,
      lossesMax: 2,
    })
  })

  it('are replaced one by one', () => {
    expect(only({ retry: { backoff: 'linear' }, timeout: false, lossesMax: 0 })).toMatchObject({
      retry: { attempts: 2, initialMs: 5_000, backoff: 'linear' },
      timeoutMs: null,
      lossesMax: 0,
    })
  })

  it('are overridden by retry: false', () => {
    expect(only({ retry: false }).retry.attempts).toBe(1)
  })

  it('allow a first delay that is longer than the default limit', () => {
    expect(only({ retry: { initial: '2m' } }).retry).toMatchObject({ initialMs: 120_000, maxMs: 120_000 })
  })
})
