import { describe, expectTypeOf, it } from 'vitest'
import type { RunCause } from '../../src/cause.ts'
import { define, type OutputsOf, type Settled, unchecked } from '../../src/definition/index.ts'

const order = define('order', { version: 1, input: unchecked<{ id: string }>() })
  .step('load', { run: () => ({ total: 3 }) })
  .step('charge', { onFailure: 'continue', run: () => 'c1' })
  .step('maybe', { when: () => true, run: () => 7 })

describe('an end step', () => {
  it('is given the run that ended: what can be undefined is', () => {
    order.onFailed('mail', {
      run: ({ runId, status, input, outputs, cause, undo, key, idempotencyKey }) => {
        expectTypeOf(runId).toEqualTypeOf<string>()
        expectTypeOf(status).toEqualTypeOf<'failed' | 'compensated'>()
        expectTypeOf(input).toEqualTypeOf<{ id: string }>()
        expectTypeOf(outputs.load).toEqualTypeOf<{ total: number } | undefined>()
        expectTypeOf(outputs.charge).toEqualTypeOf<Settled<string> | undefined>()
        expectTypeOf(outputs.maybe).toEqualTypeOf<number | undefined>()
        expectTypeOf(cause).toEqualTypeOf<RunCause | undefined>()
        expectTypeOf(undo[0]!.step).toEqualTypeOf<string>()
        expectTypeOf(key).toEqualTypeOf<string | undefined>()
        expectTypeOf(idempotencyKey).toEqualTypeOf<string>()
      },
    })
  })

  it('knows with which statuses it runs', () => {
    order
      .onCompleted('a', { run: ({ status }) => expectTypeOf(status).toEqualTypeOf<'completed'>() })
      .onCompensated('b', {
        run: ({ status }) => expectTypeOf(status).toEqualTypeOf<'compensated' | 'cancelled'>(),
      })
      .finally('c', {
        run: ({ status }) =>
          expectTypeOf(status).toEqualTypeOf<'completed' | 'failed' | 'compensated' | 'cancelled'>(),
      })
  })

  it('gets the outputs of earlier end steps, which are skipped with other ends', () => {
    order
      .onFailed('ticket', { run: () => ({ number: 4 }) })
      .onFailed('mail', {
        dependsOn: ['ticket'],
        run: ({ deps }) => expectTypeOf(deps.ticket).toEqualTypeOf<{ number: number }>(),
      })
      .finally('always', {
        dependsOn: ['ticket'],
        onSkipped: 'run',
        run: ({ deps }) => expectTypeOf(deps.ticket).toEqualTypeOf<{ number: number } | undefined>(),
      })
    // @ts-expect-error load is a step, not an end step
    order.onFailed('mail', { dependsOn: ['load'], run: () => 1 })
    // @ts-expect-error two of this name
    order.onFailed('mail', { run: () => 1 }).finally('mail', { run: () => 1 })
  })

  it("is settled for those that depend on it, with onFailure: 'continue'", () => {
    order.finally('mail', { onFailure: 'continue', run: () => 'sent' }).finally('log', {
      dependsOn: ['mail'],
      run: ({ deps }) => expectTypeOf(deps.mail).toEqualTypeOf<Settled<string>>(),
    })
  })

  it('comes last, and leaves the outputs of runs as they are', () => {
    const ended = order.finally('audit', { run: () => 'x' })
    expectTypeOf<OutputsOf<typeof ended>>().toEqualTypeOf<OutputsOf<typeof order>>()
    // @ts-expect-error no step follows an end step
    ended.step('late', { run: () => 1 })
  })
})
