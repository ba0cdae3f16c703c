import { describe, expectTypeOf, it } from 'vitest'
import { addStep, define, type OutputsOf, type Settled, unchecked } from '../../src/definition/index.ts'

const charged = define('order', { version: 1, input: unchecked<{ card: boolean }>() })
  .step('plain', { run: () => 1 })
  .step('charge', { onFailure: 'continue', run: () => ({ id: 'c' }) })

describe('a step past whose failure its run continues', () => {
  it('gives a settled value to its dependents, and other steps their output', () => {
    charged.step('next', {
      dependsOn: ['plain', 'charge'],
      when: ({ deps }) => deps.charge.status === 'completed',
      run: ({ deps }) => {
        expectTypeOf(deps.plain).toEqualTypeOf<number>()
        expectTypeOf(deps.charge).toEqualTypeOf<Settled<{ id: string }>>()
      },
      compensate: ({ deps }) => expectTypeOf(deps.charge).toEqualTypeOf<Settled<{ id: string }>>(),
    })
    charged.map('items', {
      dependsOn: ['charge'],
      over: ({ deps }) => [deps.charge.status],
      run: ({ deps }) => expectTypeOf(deps.charge).toEqualTypeOf<Settled<{ id: string }>>(),
    })
  })

  it('gives it to the caller of the run too', () => {
    expectTypeOf<OutputsOf<typeof charged>['plain']>().toEqualTypeOf<number>()
    expectTypeOf<OutputsOf<typeof charged>['charge']>().toEqualTypeOf<Settled<{ id: string }>>()
  })

  it('has its own output in its compensation', () => {
    charged.step('other', {
      onFailure: 'continue',
      run: () => 'x',
      compensate: ({ output }) => expectTypeOf(output).toEqualTypeOf<string>(),
    })
  })

  it('may be any kind of wait', () => {
    const every = charged
      .sleep('a', { for: '1s', onFailure: 'continue' })
      .waitForSignal('b', { schema: unchecked<string>(), onFailure: 'continue' })
      .approval('c', { onFailure: 'continue' })
      .poll('d', { every: '1s', until: () => 7, onFailure: 'continue' })
    type Outputs = OutputsOf<typeof every>
    expectTypeOf<Outputs['a']>().toEqualTypeOf<Settled<undefined>>()
    expectTypeOf<Outputs['b']>().toEqualTypeOf<Settled<string>>()
    expectTypeOf<Outputs['c']['status']>().toEqualTypeOf<'completed' | 'failed'>()
    expectTypeOf<Outputs['d']>().toEqualTypeOf<Settled<number>>()
  })

  it('is settled or undefined if it may be skipped', () => {
    const maybe = charged.step('maybe', { when: () => true, onFailure: 'continue', run: () => 'x' })
    expectTypeOf<OutputsOf<typeof maybe>['maybe']>().toEqualTypeOf<Settled<string> | undefined>()
    maybe.step('next', {
      dependsOn: ['maybe'],
      run: ({ deps }) => expectTypeOf(deps.maybe).toEqualTypeOf<Settled<string>>(),
    })
    maybe.step('always', {
      dependsOn: ['maybe'],
      onSkipped: 'run',
      run: ({ deps }) => expectTypeOf(deps.maybe).toEqualTypeOf<Settled<string> | undefined>(),
    })
  })

  it('may be written out as one that stops the run', () => {
    const stops = charged.step('stops', { onFailure: 'stop', run: () => 1 })
    expectTypeOf<OutputsOf<typeof stops>['stops']>().toEqualTypeOf<number>()
  })

  it('may be added by a helper', () => {
    const more = addStep(charged, 'more', { onFailure: 'continue', run: () => 1 })
    expectTypeOf<OutputsOf<typeof more>['more']>().toEqualTypeOf<Settled<number>>()
  })

  it('keeps outputs that are unknown or never', () => {
    const odd = charged.step('unknown', { run: (): unknown => 1 }).step('never', {
      run: () => {
        throw new Error('always')
      },
    })
    expectTypeOf<OutputsOf<typeof odd>['unknown']>().toEqualTypeOf<unknown>()
    expectTypeOf<OutputsOf<typeof odd>['never']>().toEqualTypeOf<never>()
  })
})

describe('a step that runs only with an outcome', () => {
  it('gets the failed or the completed one', () => {
    const ways = charged
      .step('invoice', {
        when: { charge: 'failed' },
        run: ({ deps }) => {
          expectTypeOf(deps.charge.status).toEqualTypeOf<'failed'>()
          return deps.charge.error.message
        },
      })
      .step('receipt', { when: { charge: 'completed' }, run: ({ deps }) => deps.charge.output.id })
    expectTypeOf<OutputsOf<typeof ways>['invoice']>().toEqualTypeOf<string | undefined>()
    ways.step('ship', {
      dependsOn: ['charge', 'invoice', 'receipt'],
      onSkipped: 'run',
      run: ({ deps }) => {
        expectTypeOf(deps.charge).toEqualTypeOf<Settled<{ id: string }>>()
        expectTypeOf(deps.invoice).toEqualTypeOf<string | undefined>()
        expectTypeOf(deps.receipt).toEqualTypeOf<string | undefined>()
      },
    })
  })

  it('names no other outcome, and no step that stops the run', () => {
    // @ts-expect-error a step completes or fails
    charged.step('a', { when: { charge: 'declined' }, run: () => 1 })
    // @ts-expect-error the run stops if plain fails
    charged.step('a', { when: { plain: 'failed' }, run: () => 1 })
    // @ts-expect-error a choice has cases of its own
    charged.choose('a', { on: () => 'x', cases: ['x'], onFailure: 'continue' })
  })
})
