import { describe, expectTypeOf, it } from 'vitest'
import { addStep, define, defineGraph, type OutputsOf, unchecked } from '../../src/definition/index.ts'

const load = define('order', { version: 1, input: unchecked<{ card: boolean }>() }).step('load', {
  run: () => ({ total: 3 }),
})
const paid = load
  .choose('method', {
    dependsOn: ['load'],
    on: ({ input }) => (input.card ? 'card' : 'invoice'),
    cases: ['card', 'invoice'],
  })
  .step('charge', {
    when: { method: 'card' },
    run: ({ deps }) => {
      expectTypeOf(deps.method).toEqualTypeOf<'card'>()
      return { chargeId: 'c' }
    },
  })
  .step('invoice', { when: { method: ['invoice', 'card'] }, run: () => 7 })

describe('a when', () => {
  it('is given the input and the outputs of its dependencies', () => {
    load.step('review', {
      dependsOn: ['load'],
      when: ({ input, deps, runId, step }) => {
        expectTypeOf(input).toEqualTypeOf<{ card: boolean }>()
        expectTypeOf({ ...deps }).toEqualTypeOf<{ load: { total: number } }>()
        expectTypeOf(runId).toEqualTypeOf<string>()
        expectTypeOf(step).toEqualTypeOf<string>()
        return deps.load.total > 1
      },
      run: ({ deps }) => {
        expectTypeOf({ ...deps }).toEqualTypeOf<{ load: { total: number } }>()
      },
    })
  })

  it('makes the output of its step optional in the outputs of a run, for every kind of step', () => {
    const every = load
      .step('a', { when: async () => true, run: () => 1 })
      .sleep('b', { when: () => true, for: '1s' })
      .waitForSignal('c', { when: () => true, schema: unchecked<string>() })
      .approval('d', { when: () => true })
      .poll('e', { when: () => false, every: '1s', until: () => 'x' })
      .choose('f', { when: () => true, on: () => 'y', cases: ['y', 'z'] })
    type Outputs = OutputsOf<typeof every>
    expectTypeOf<Outputs['load']>().toEqualTypeOf<{ total: number }>()
    expectTypeOf<Outputs['a']>().toEqualTypeOf<number | undefined>()
    expectTypeOf<Outputs['b']>().toEqualTypeOf<undefined>()
    expectTypeOf<Outputs['c']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<undefined>().toExtend<Outputs['d']>()
    expectTypeOf<Outputs['e']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<Outputs['f']>().toEqualTypeOf<'y' | 'z' | undefined>()
  })

  it('must return true or false', () => {
    // @ts-expect-error a number is neither
    load.step('review', { when: () => 1, run: () => 1 })
  })
})

describe('a choice', () => {
  it('has its cases as its output', () => {
    expectTypeOf<OutputsOf<typeof paid>['method']>().toEqualTypeOf<'card' | 'invoice'>()
    paid.step('next', {
      dependsOn: ['method'],
      run: ({ deps }) => expectTypeOf(deps.method).toEqualTypeOf<'card' | 'invoice'>(),
    })
  })

  it('returns nothing but its cases', () => {
    // @ts-expect-error crad is not a case
    load.choose('method', { on: () => 'crad', cases: ['card'] })
  })
})

describe('a step after a step that may be skipped', () => {
  it('is skipped with it, so its handler has the output', () => {
    const next = paid.step('receipt', {
      dependsOn: ['charge'],
      run: ({ deps }) => {
        expectTypeOf(deps.charge).toEqualTypeOf<{ chargeId: string }>()
        return 'sent'
      },
    })
    expectTypeOf<OutputsOf<typeof next>['receipt']>().toEqualTypeOf<string | undefined>()
    const later = next.step('archive', { dependsOn: ['receipt'], run: () => 1 })
    expectTypeOf<OutputsOf<typeof later>['archive']>().toEqualTypeOf<number | undefined>()
  })

  it('that runs all the same may find no output, and has one of its own', () => {
    const next = paid.step('ship', {
      dependsOn: ['charge', 'invoice'],
      onSkipped: 'run',
      run: ({ deps }) => {
        expectTypeOf(deps.charge).toEqualTypeOf<{ chargeId: string } | undefined>()
        expectTypeOf(deps.invoice).toEqualTypeOf<number | undefined>()
        return 'shipped'
      },
    })
    expectTypeOf<OutputsOf<typeof next>['ship']>().toEqualTypeOf<string>()
    const later = next.step('close', { dependsOn: ['ship'], run: () => 1 })
    expectTypeOf<OutputsOf<typeof later>['close']>().toEqualTypeOf<number>()
  })
})

describe('a helper that adds a step', () => {
  it('makes its output optional, too', () => {
    const more = addStep(load, 'audit', { when: () => true, run: () => 'x' })
    expectTypeOf<OutputsOf<typeof more>['audit']>().toEqualTypeOf<string | undefined>()
    const plain = addStep(load, 'audit', { run: () => 'x' })
    expectTypeOf<OutputsOf<typeof plain>['audit']>().toEqualTypeOf<string>()
  })
})

describe('a graph as data', () => {
  const handlers = { work: () => 1, pick: () => 'x', ask: () => true }

  it('names the handlers of its choices and conditions', () => {
    defineGraph(
      'w',
      {
        steps: {
          m: { on: 'pick', cases: ['x'] },
          a: { handler: 'work', when: { m: 'x' } },
          b: { sleep: '1s', when: 'ask', onSkipped: 'run' },
        },
        dag: {},
      },
      handlers,
    )
    // @ts-expect-error there is no such handler
    defineGraph('w', { steps: { a: { handler: 'work', when: 'aks' } }, dag: {} }, handlers)
    // @ts-expect-error there is no such handler
    defineGraph('w', { steps: { m: { on: 'pik', cases: ['x'] } }, dag: {} }, handlers)
  })
})
