import { expectTypeOf, test } from 'vitest'
import { define, type OutputsOf, type Settled, unchecked } from '../../src/definition/index.ts'
import type { RunHandle } from '../../src/engine/index.ts'

const imported = define('import', { version: 1, input: unchecked<{ readonly from: string }>() })
  .step('open', { run: () => ({ size: 3 }) })
  .repeat('fetch', {
    dependsOn: ['open'],
    first: ({ input, deps }) => {
      expectTypeOf(deps.open.size).toEqualTypeOf<number>()
      return { cursor: input.from as string | null, at: new Date() }
    },
    run: async ({ last, round, input, deps }) => {
      expectTypeOf(last).toEqualTypeOf<{ cursor: string | null; at: string }>()
      expectTypeOf(round).toEqualTypeOf<number>()
      expectTypeOf(deps.open.size).toEqualTypeOf<number>()
      return { cursor: round > 2 ? null : input.from, at: new Date(), rows: 7 }
    },
    until: ({ output, round, input, deps }) => {
      expectTypeOf(output.at).toEqualTypeOf<Date>()
      expectTypeOf(input.from).toEqualTypeOf<string>()
      expectTypeOf(deps.open.size).toEqualTypeOf<number>()
      return output.cursor === null || round > 5
    },
    max: 100,
    delay: ({ output }) => (output.rows === 7 ? '1s' : 0),
    compensate: ({ output, last, round }) => {
      expectTypeOf(output.rows).toEqualTypeOf<number>()
      expectTypeOf(last.cursor).toEqualTypeOf<string | null>()
      expectTypeOf(round).toEqualTypeOf<number>()
    },
  })
  .repeat('count', { run: ({ round }) => round, until: async ({ output }) => output > 2, delay: '1m' })
  .step('publish', {
    dependsOn: ['fetch', 'count'],
    run: ({ deps }) => `${deps.fetch.at} ${deps.count.toFixed()}`,
  })

type Outputs = OutputsOf<typeof imported>

test('the output of a loop is that of its last round', () => {
  expectTypeOf<Outputs['fetch']['at']>().toEqualTypeOf<string>()
  expectTypeOf<Outputs['fetch']['rows']>().toEqualTypeOf<number>()
  expectTypeOf<Outputs['count']>().toEqualTypeOf<number>()
  expectTypeOf<Outputs['publish']>().toEqualTypeOf<string>()
})

test('without first, last is of unknown type', () => {
  define('w', { version: 1 }).repeat('a', {
    run: ({ last }) => {
      expectTypeOf(last).toEqualTypeOf<unknown>()
      return 1
    },
    until: () => true,
  })
})

test('what does not fit does not compile', () => {
  const base = define('w', { version: 1 })
  // @ts-expect-error A round must return what `first` returns.
  void (() => base.repeat('a', { first: () => 1, run: () => 'text', until: () => true }))
  // @ts-expect-error until must return true or false.
  void (() => base.repeat('a', { run: () => 1, until: ({ round }) => round }))
  // @ts-expect-error until is missing.
  void (() => base.repeat('a', { run: () => 1 }))
  // @ts-expect-error No such step.
  void (() => base.repeat('a', { dependsOn: ['b'], run: () => 1, until: () => true }))
  // @ts-expect-error A Map has no JSON form.
  void (() => base.repeat('a', { run: () => new Map([[1, 2]]), until: () => true }))
})

test("a loop with onFailure: 'continue' has a settled value, and may be named in when", () => {
  const drafted = define('w', { version: 1 })
    .repeat('draft', {
      onFailure: 'continue',
      first: () => ({ text: '' }),
      run: ({ last }) => {
        expectTypeOf(last).toEqualTypeOf<{ text: string }>()
        return last
      },
      until: ({ output }) => output.text !== '',
    })
    .step('send', {
      dependsOn: ['draft'],
      run: ({ deps }) => {
        expectTypeOf(deps.draft).toEqualTypeOf<Settled<{ text: string }>>()
        return 1
      },
    })
    .step('apologise', {
      when: { draft: 'failed' },
      run: ({ deps }) => expectTypeOf(deps.draft.error.message).toEqualTypeOf<string>(),
    })
  expectTypeOf<OutputsOf<typeof drafted>['draft']>().toEqualTypeOf<Settled<{ text: string }>>()
  const base = define('w', { version: 1 })
  // @ts-expect-error A loop has no items to collect.
  void (() => base.repeat('a', { onFailure: 'collect', run: () => 1, until: () => true }))
})

test('a round is named with its number', () => {
  const run = {} as RunHandle<Outputs>
  void (() => run.retryStep('fetch[2]'))
  void (() => run.skipStep('count[2]', { output: 7 }))
  // @ts-expect-error The output of a round is that of its loop.
  void (() => run.skipStep('count[2]', { output: 'text' }))
  // @ts-expect-error Rounds have numbers.
  void (() => run.retryStep('count[last]'))
})
