import { expectTypeOf, test } from 'vitest'
import {
  define,
  type MapOutput,
  type OutputsOf,
  type Settled,
  unchecked,
} from '../../src/definition/index.ts'
import type { RunHandle } from '../../src/engine/index.ts'

const album = define('album', { version: 1, input: unchecked<{ photos: readonly { id: string }[] }>() })
  .step('open', { run: () => ({ size: 3 }) })
  .map('resize', {
    dependsOn: ['open'],
    over: ({ input, deps }) => input.photos.map(({ id }) => ({ id, size: deps.open.size })),
    itemKey: (item) => {
      expectTypeOf(item).toEqualTypeOf<{ id: string; size: number }>()
      return item.id
    },
    run: async ({ item, itemKey, index, deps }) => {
      expectTypeOf(item).toEqualTypeOf<{ id: string; size: number }>()
      expectTypeOf(itemKey).toEqualTypeOf<string>()
      expectTypeOf(index).toEqualTypeOf<number>()
      expectTypeOf(deps.open.size).toEqualTypeOf<number>()
      return { url: item.id }
    },
    compensate: ({ item, output }) => {
      expectTypeOf(item.size).toEqualTypeOf<number>()
      expectTypeOf(output).toEqualTypeOf<{ url: string }>()
    },
  })
  .map('announce', { over: () => [1, 2], run: () => {} })
  .step('publish', {
    dependsOn: ['resize', 'announce'],
    run: ({ deps }) => deps.resize.map(({ url }) => url).join(),
  })

type Outputs = OutputsOf<typeof album>

test('the output of a map is an array of the outputs of its items', () => {
  expectTypeOf<Outputs['resize']>().toEqualTypeOf<readonly { url: string }[]>()
  expectTypeOf<MapOutput<undefined>>().toEqualTypeOf<readonly null[]>()
  expectTypeOf<Outputs['announce'][number]>().toEqualTypeOf<null>()
  expectTypeOf<Outputs['publish']>().toEqualTypeOf<string>()
})

test('an item is named with its key, and its stand-in is typed like its output', () => {
  const run = {} as RunHandle<Outputs>
  void (() => run.retryStep('resize[p1]'))
  void (() => run.skipStep('resize[p1]', { output: { url: 'https://example.com' } }))
  // @ts-expect-error The output of an item is no text.
  void (() => run.skipStep('resize[p1]', { output: 'https://example.com' }))
  // @ts-expect-error A step that is no map has no items.
  void (() => run.retryStep('publish[p1]'))
})

test('over must return an array of what JSON has a form for', () => {
  const base = define('w', { version: 1 })
  // @ts-expect-error It returns no array.
  void (() => base.map('a', { over: () => 3, run: () => 1 }))
  // @ts-expect-error No such step is defined before it.
  void (() => base.map('a', { dependsOn: ['b'], over: () => [1], run: () => 1 }))
})

test('a map that collects failures tells how each item ended', () => {
  const mailing = define('mailing', { version: 1 })
    .map('send', {
      over: () => ['a', 'b'],
      onFailure: 'collect',
      minSuccess: '90%',
      run: ({ item }) => item.length,
    })
    .step('report', {
      dependsOn: ['send'],
      run: ({ deps }) => {
        expectTypeOf(deps.send).toEqualTypeOf<readonly Settled<number>[]>()
        return deps.send.map((sent) => (sent.status === 'failed' ? sent.error.message : sent.output))
      },
    })
  expectTypeOf<OutputsOf<typeof mailing>['send']>().toEqualTypeOf<readonly Settled<number>[]>()
  const run = {} as RunHandle<OutputsOf<typeof mailing>>
  void (() => run.skipStep('send[0]', { output: 3 }))
  const base = define('w', { version: 1 })
  // @ts-expect-error Without onFailure: 'collect' every item must complete.
  void (() => base.map('a', { over: () => [1], run: () => 1, minSuccess: 3 }))
  // @ts-expect-error A share has a per cent sign.
  void (() => base.map('a', { over: () => [1], run: () => 1, onFailure: 'collect', minSuccess: '90' }))
})

test('one compensation for all items gets them with their outputs', () => {
  const base = define('w', { version: 1 }).step('open', { run: () => 'opened' })
  base.map('a', {
    dependsOn: ['open'],
    over: () => [{ id: 1 }],
    run: ({ item }) => ({ url: String(item.id) }),
    compensateAll: ({ items, deps, cause }) => {
      expectTypeOf(items[0]!.item).toEqualTypeOf<{ id: number }>()
      expectTypeOf(items[0]!.output).toEqualTypeOf<{ url: string }>()
      expectTypeOf(deps.open).toEqualTypeOf<string>()
      expectTypeOf(cause.type).toBeString()
    },
  })
  base.map('b', {
    over: () => [1],
    run: () => 'done',
    compensateOn: 'started',
    compensateAll: ({ items }) => {
      for (const undone of items)
        if (undone.undoOf === 'completed') expectTypeOf(undone.output).toEqualTypeOf<string>()
    },
  })
})
