import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Approval,
  define,
  defineGraph,
  type OutputsOf,
  type ReceivesOf,
  unchecked,
} from '../../src/definition/index.ts'
import type { Engine, RunHandle } from '../../src/engine/index.ts'

declare const engine: Engine

const order = define('order', { version: 1, input: z.object({ days: z.number() }) })
  .step('pay', { run: () => ({ id: 'p1' }) })
  .sleep('rest', {
    dependsOn: ['pay'],
    for: ({ input, deps }) => (deps.pay.id === 'x' ? 0 : `${input.days}d`),
  })
  .waitForSignal('shipped', {
    dependsOn: ['rest'],
    schema: z.object({ at: z.coerce.date() }),
    timeout: '7d',
    onTimeout: ({ input }) => ({ gone: input.days }),
  })
  .waitForSignal('anything')
  .approval('manager', { dependsOn: ['shipped'] })
  .approval('board', { schema: unchecked<{ budget: number }>(), timeout: '1d', onTimeout: { output: null } })
  .poll('paid', {
    dependsOn: ['pay'],
    every: '1m',
    until: async ({ deps }) => (deps.pay.id === 'x' ? undefined : { receipt: 7 }),
  })
  .poll('open', { every: '1m', until: () => Math.random() > 0.5 })

type Outputs = OutputsOf<typeof order>

test('outputs of waits are those of their schemas, stand-ins and checks', () => {
  expectTypeOf<Outputs['rest']>().toEqualTypeOf<undefined>()
  expectTypeOf<Outputs['shipped']>().toEqualTypeOf<{ at: string } | { gone: number }>()
  expectTypeOf<Outputs['anything']>().toEqualTypeOf<unknown>()
  expectTypeOf<Outputs['manager']>().toEqualTypeOf<Approval>()
  expectTypeOf<Outputs['manager']['by']>().toEqualTypeOf<string>()
  expectTypeOf<Outputs['board']>().toEqualTypeOf<Approval<{ budget: number }> | null>()
  expectTypeOf<Outputs['paid']>().toEqualTypeOf<{ receipt: number }>()
  expectTypeOf<Outputs['open']>().toEqualTypeOf<true>()
})

test('steps after a wait get its output', () => {
  order.step('after', {
    dependsOn: ['manager', 'paid', 'rest'],
    run: ({ deps }) => {
      expectTypeOf(deps.manager.approved).toEqualTypeOf<true>()
      expectTypeOf(deps.manager.comment).toEqualTypeOf<string | undefined>()
      expectTypeOf(deps.paid).toEqualTypeOf<{ receipt: number }>()
      expectTypeOf(deps.rest).toEqualTypeOf<undefined>()
    },
  })
})

test('a handle knows which signals its run takes, and with what', async () => {
  const run = await engine.run(order, { days: 3 })
  run.signal('shipped', { at: 'now' }, { key: 'k' })
  run.signal('anything')
  run.signal('anything', 7)
  run.approve('manager', { by: 'ann' })
  run.approve('board', { by: 'ann', payload: { budget: 7 } })
  run.reject('board', { by: 'ann', comment: 'no' })
  // @ts-expect-error there is no such signal
  run.signal('shiped', {})
  // @ts-expect-error an approval takes decisions
  run.signal('manager', {})
  // @ts-expect-error a signal is not decided
  run.approve('shipped', { by: 'ann' })
  // @ts-expect-error the payload is missing
  run.signal('shipped')
  // @ts-expect-error the schema asks for a budget
  run.approve('board', { by: 'ann' })
  // @ts-expect-error somebody decides
  run.approve('manager', {})
})

test('a definition without signals takes none', async () => {
  const run = await engine.run(define('plain', { version: 1 }).step('a', { run: () => 1 }))
  expectTypeOf(run.signal).parameter(0).toEqualTypeOf<never>()
  expectTypeOf(run.approve).parameter(0).toEqualTypeOf<never>()
})

test('a run that is found by its id, or of a graph as data, takes any name', async () => {
  const handle = engine.runs.handle('id')
  handle.signal('whatever', { any: 1 }, { key: 'k' })
  handle.approve('whatever', { by: 'ann', payload: 7 })
  const run = await engine.run(defineGraph('g', { steps: { a: { signal: true } }, dag: {} }))
  run.signal('a', 7)
  expectTypeOf(run).toEqualTypeOf<RunHandle<Readonly<Record<string, unknown>>>>()
})

test('engine.signal() is typed by the definition it is given', () => {
  engine.signal('id', 'whatever', 7)
  engine.signal({ workflow: 'order', key: 'k' }, 'whatever')
  engine.signal({ workflow: order, key: 'k' }, 'shipped', { at: 1 })
  engine.approve({ workflow: order, key: 'k' }, 'manager', { by: 'ann' })
  // @ts-expect-error there is no such signal
  engine.signal({ workflow: order, key: 'k' }, 'shiped', { at: 1 })
  // @ts-expect-error the payload is missing
  engine.signal({ workflow: order, key: 'k' }, 'shipped')
  // @ts-expect-error a signal is not decided
  engine.reject({ workflow: order, key: 'k' }, 'shipped', { by: 'ann' })
})

test('what cannot be sent is known by type', () => {
  type Sent = ReceivesOf<typeof order>
  expectTypeOf<keyof Sent['signals']>().toEqualTypeOf<'shipped' | 'anything'>()
  expectTypeOf<keyof Sent['approvals']>().toEqualTypeOf<'manager' | 'board'>()
})

test('waits that make no sense do not compile', () => {
  const base = define('w', { version: 1 }).step('a', { run: () => 1 })
  // @ts-expect-error either for or until
  base.sleep('b', {})
  // @ts-expect-error not both
  base.sleep('b', { for: '1d', until: new Date() })
  // @ts-expect-error a duration has a unit
  base.sleep('b', { for: '5' })
  // @ts-expect-error step "z" is not defined
  base.sleep('b', { dependsOn: ['z'], for: '1d' })
  // @ts-expect-error step "a" is defined already
  base.waitForSignal('a')
  // @ts-expect-error every is missing
  base.poll('b', { until: () => 1 })
  // @ts-expect-error there is no such end
  base.waitForSignal('b', { timeout: '1d', onTimeout: 'skip' })
})
