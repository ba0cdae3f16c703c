import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'
import { diffShapes, toMermaid } from '../../src/graph/index.ts'

const run = () => 1
const base = define('w', { version: 1 }).step('load', { run })
const order = base
  .choose('method', { dependsOn: ['load'], on: () => 'card', cases: ['invoice', 'card'] })
  .step('charge', { when: { method: 'card' }, run })
  .step('invoice', { when: { method: 'invoice' }, run })
  .step('review', { dependsOn: ['load'], when: () => true, run })
  .step('receipt', { dependsOn: ['charge', 'load'], run })
  .step('ship', { dependsOn: ['charge', 'invoice'], onSkipped: 'run', run })
  .step('close', { dependsOn: ['ship'], run })

const stepNamed = (name: string) => order.steps.find((step) => step.name === name)!
const numberOf = (name: string) => order.graph.numberOf(name)!

describe('a step that may be skipped', () => {
  it('knows its condition, and the dependencies with which it is skipped', () => {
    expect(stepNamed('charge').branch).toEqual({
      when: undefined,
      cases: [{ step: numberOf('method'), cases: ['card'], ofOutcome: false }],
      skippedWith: [],
    })
    expect(stepNamed('review').branch).toMatchObject({ when: expect.any(Function), skippedWith: [] })
    expect(stepNamed('receipt').branch).toEqual({
      when: undefined,
      cases: [],
      skippedWith: [numberOf('charge')],
    })
  })

  it('is told from those that always run', () => {
    const always = order.steps.filter(({ branch }) => branch === null).map(({ name }) => name)
    expect(always.sort()).toEqual(['close', 'load', 'method', 'ship'])
  })

  it('depends on the choice that its condition names', () => {
    expect(stepNamed('charge').dependsOn).toEqual(['method'])
    const named = order.step('more', { dependsOn: ['method', 'load'], when: { method: 'card' }, run })
    expect(named.steps.find(({ name }) => name === 'more')!.dependsOn).toEqual(['method', 'load'])
  })
})

describe('the shape', () => {
  it('holds conditions, cases and onSkipped; a step without them looks as it always did', () => {
    const { steps } = order.record.shape
    expect(steps[numberOf('method')]).toMatchObject({ kind: 'choose', cases: ['card', 'invoice'] })
    expect(steps[numberOf('charge')]!.when).toEqual([{ choice: 'method', cases: ['card'] }])
    expect(steps[numberOf('review')]!.when).toBe('function')
    expect(steps[numberOf('ship')]!.onSkipped).toBe('run')
    expect(steps[numberOf('load')]).toEqual({ name: 'load', dependsOn: [], compensate: 'never' })
  })

  it('does not depend on the order of cases, and has another checksum with other conditions', () => {
    const choice = (cases: readonly ('a' | 'b')[]) => base.choose('x', { on: () => 'a', cases }).record
    expect(choice(['a', 'b'])).toEqual(choice(['b', 'a']))
    const records = [
      base.step('y', { run }),
      base.step('y', { run, when: () => true }),
      base.step('y', { run, onSkipped: 'run' }),
    ].map(({ record }) => record.checksum)
    expect(new Set(records).size).toBe(3)
  })

  it('tells in a diff what changed', () => {
    const before = base.step('y', { run }).choose('m', { on: () => 'a', cases: ['a'] })
    const after = base
      .choose('m', { on: () => 'a', cases: ['a', 'b'] })
      .step('y', { run, when: { m: ['a', 'b'] }, onSkipped: 'run' })
    expect(diffShapes(before.record.shape, after.record.shape)).toEqual([
      '~ m: chooses a case of a, b, was chooses a case of a',
      '~ y: depends on m, was nothing; runs when m is a or b, although a dependency was skipped, was: always runs',
    ])
  })

  it('is drawn with its choices, cases and conditions', () => {
    const chart = toMermaid(order)
    const [method, charge, review, ship] = ['method', 'charge', 'review', 'ship'].map(numberOf)
    expect(chart).toContain(`s${method}{{"◇ method"}}`)
    expect(chart).toContain(`s${method} -->|"card"| s${charge}`)
    expect(chart).toContain(`s${review}["review ?"]`)
    expect(chart).toContain(`s${charge} -.-> s${ship}`)
  })
})

describe('a graph as data', () => {
  it('has the shape of the same workflow in code', () => {
    const data = defineGraph(
      'w',
      {
        steps: {
          load: { handler: 'run' },
          method: { on: 'pick', cases: ['card', 'invoice'] },
          charge: { handler: 'run', when: { method: 'card' } },
          invoice: { handler: 'run', when: { method: ['invoice'] } },
          review: { handler: 'run', when: 'ask' },
          receipt: { handler: 'run' },
          ship: { handler: 'run', onSkipped: 'run' },
          close: { handler: 'run' },
        },
        dag: {
          method: ['load'],
          review: ['load'],
          receipt: ['charge', 'load'],
          ship: ['charge', 'invoice'],
          close: ['ship'],
        },
      },
      { run, pick: () => 'card', ask: () => true },
    )
    expect(data.record).toEqual(order.record)
    expect(data.runnable).toBe(true)
  })

  it('cannot be run without the handler of a condition', () => {
    const data = defineGraph('w', { steps: { nap: { sleep: '1s', when: 'ask' } }, dag: {} })
    expect(data.runnable).toBe(false)
  })

  it('reports wrong conditions with all other problems', () => {
    const wrong = () =>
      defineGraph(
        'w',
        {
          steps: {
            m: { on: 'pick', cases: ['a'] },
            x: { handler: 'run', when: { m: 'b' } },
            y: { handler: 'run', when: { z: 'a' } },
            w: { handler: 'run', when: 'pik' },
          },
          dag: {},
        },
        { run, pick: () => 'a' } as never,
      )
    expect(wrong).toThrow(/case "b" of "m".*Its cases are a\.[\s\S]*depends on "z"/)
    expect(wrong).toThrow(/when is "pik", and must be the name of a handler\. Did you mean "pick"\?/)
  })
})

describe('a wrong condition is refused', () => {
  const untyped = base as unknown as { step(name: string, options: object): unknown } & {
    choose(name: string, options: object): unknown
  }

  it.each([
    [{ when: 'card' }, /when is "card", and must be a function that returns true or false, or an object/],
    [{ when: {} }, /must be a function that returns true or false, or an object with the case/],
    [{ when: null }, /when is null/],
    [{ when: { load: 'a' } }, /when names "load", which is not a choice/],
    [{ when: { lode: 'a' } }, /depends on "lode", which is not defined\. Did you mean "load"\?/],
    [{ when: { load: [] } }, /when\.load is .* must be an array of one or more different strings/],
    [{ when: { load: 7 } }, /when\.load is 7, and must be an array/],
    [{ onSkipped: 'fail' }, /onSkipped is "fail", and must be/],
    [{ wehn: () => true }, /Did you mean "when"\?/],
  ])('%o', (options, message) => {
    expect(() => untyped.step('y', { run, ...options })).toThrow(message)
  })

  it.each([
    [{ cases: ['a'] }, /on is undefined, and must be a function that returns one of cases/],
    [{ on: run }, /cases is undefined, and must be an array of one or more different strings/],
    [{ on: run, cases: ['a', 'a'] }, /cases is .* different strings/],
    [{ on: run, cases: [''] }, /cases is .* different strings/],
    [{ on: run, cases: ['a'], compensate: run }, /compensate/],
  ])('of a choice: %o', (options, message) => {
    expect(() => untyped.choose('y', options)).toThrow(message)
  })
})
