import { describe, expectTypeOf, it } from 'vitest'
import {
  define,
  defineGraph,
  type Engine,
  type LimitSetting,
  type LimitSnapshot,
  unchecked,
} from '../../src/index.ts'

const order = define('order', {
  version: 1,
  input: unchecked<{ customer: string; photos: readonly string[] }>(),
  concurrency: {
    limit: 1,
    key: ({ input, runId }) => {
      expectTypeOf(runId).toEqualTypeOf<string>()
      return input.customer
    },
  },
}).step('price', { run: () => 7 })

describe('the key of a limit', () => {
  it('gets the input and the outputs of dependencies', () => {
    order.step('charge', {
      dependsOn: ['price'],
      concurrency: [
        { limit: 5, name: 'stripe' },
        {
          limit: 1,
          key: ({ input, deps }) => {
            expectTypeOf(deps.price).toEqualTypeOf<number>()
            return input.customer
          },
        },
      ],
      run: ({ deps }) => deps.price,
    })
  })

  it('gets the item of a map, whose concurrency may still be a number', () => {
    order
      .map('resize', {
        over: ({ input }) => input.photos,
        concurrency: {
          limit: 3,
          key: ({ item, index }) => {
            expectTypeOf(item).toEqualTypeOf<string>()
            expectTypeOf(index).toEqualTypeOf<number>()
            return item
          },
        },
        run: ({ item }) => item,
      })
      .map('store', { over: ({ input }) => input.photos, concurrency: 20, run: ({ item }) => item })
  })

  it('must return a text', () => {
    // @ts-expect-error a number is no key
    order.step('charge', { concurrency: { limit: 1, key: () => 5 }, run: () => 1 })
    // @ts-expect-error a limit has a number
    order.step('charge', { concurrency: { key: () => 'a' }, run: () => 1 })
  })

  it('is named in a graph as data', () => {
    defineGraph(
      'graph',
      { steps: { a: { handler: 'run', concurrency: { limit: 1, key: 'keyOf' } } }, dag: {} },
      { run: () => 1, keyOf: () => 'key' },
    )
  })
})

it('limits are looked at and set', () => {
  expectTypeOf<Engine['limits']['get']>().returns.resolves.toEqualTypeOf<LimitSnapshot | undefined>()
  expectTypeOf<Engine['limits']['set']>().parameter(1).toEqualTypeOf<LimitSetting>()
  expectTypeOf<number>().toExtend<LimitSetting>()
  expectTypeOf<{ rateLimit: { limit: number; per: '1s' } }>().toExtend<LimitSetting>()
  expectTypeOf<{ rateLimit: { limit: number } }>().not.toExtend<LimitSetting>()
})

it('the key of a rate gets what that of a concurrency limit gets', () => {
  define('typed', { version: 1, rateLimit: { limit: 1, per: '1s' } }).step('call', {
    rateLimit: [
      {
        limit: 100,
        per: '1s',
        burst: 5,
        key: ({ step }) => {
          expectTypeOf(step).toBeString()
          return step
        },
      },
    ],
    run: () => 1,
  })
  // @ts-expect-error A rate has a time.
  define('typed', { version: 1 }).step('call', { rateLimit: { limit: 1 }, run: () => 1 })
  // @ts-expect-error A rate has a limit.
  define('typed', { version: 1 }).step('call', { rateLimit: { per: '1s' }, run: () => 1 })
})

it('atLimit says what happens without a slot, of a step, of a run and in a graph as data, but not of a rate', () => {
  const concurrency = { limit: 1, atLimit: 'skip' } as const
  const base = define('typed', { version: 1, concurrency })
  const skippable = base.step('a', { when: () => true, concurrency, run: () => 1 })
  skippable.step('b', {
    dependsOn: ['a'],
    onSkipped: 'run',
    run: ({ deps }) => expectTypeOf(deps.a).toEqualTypeOf<number | undefined>(),
  })
  defineGraph(
    'graph',
    { steps: { a: { handler: 'run', when: 'run', concurrency } }, dag: {} },
    { run: () => 1 },
  )
  // @ts-expect-error There is no such choice.
  base.step('a', { when: () => true, concurrency: { limit: 1, atLimit: 'drop' }, run: () => 1 })
  // @ts-expect-error A rate can only wait.
  base.step('a', { when: () => true, rateLimit: { limit: 1, per: '1s', atLimit: 'skip' }, run: () => 1 })
})

it('only limits of workflows cancel older runs', () => {
  const concurrency = { limit: 1, atLimit: 'cancel-older' } as const
  const base = define('typed', { version: 1, concurrency })
  define('typed', { version: 1, concurrency: [concurrency] })
  defineGraph('graph', { concurrency, steps: { a: { handler: 'run' } }, dag: {} }, { run: () => 1 })
  // @ts-expect-error A step has no older run.
  base.step('a', { concurrency, run: () => 1 })
  // @ts-expect-error Nor has one of a graph.
  defineGraph('graph', { steps: { a: { handler: 'run', concurrency } }, dag: {} }, { run: () => 1 })
})

it('runs are found by the limit that they wait for', () => {
  type Filter = NonNullable<Parameters<Engine['runs']['list']>[0]>
  expectTypeOf<{ waitingFor: { limit: string } }>().toExtend<Filter>()
  expectTypeOf<{ waitingFor: { limit: string; key: string } }>().toExtend<Filter>()
  expectTypeOf<{ waitingFor: { key: string } }>().not.toExtend<Filter>()
})
