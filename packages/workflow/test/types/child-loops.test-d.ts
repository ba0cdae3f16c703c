import { describe, expectTypeOf, it } from 'vitest'
import { define, type OutputsOf, type Settled, unchecked } from '../../src/index.ts'

const page = define('page', { version: 1, input: unchecked<{ from: string }>() })
  .step('rows', { run: () => 7 })
  .step('next', { run: (): { cursor: string | null; at: Date } => ({ cursor: null, at: new Date(0) }) })

interface PageOutput {
  readonly rows: number
  readonly next: { cursor: string | null; at: string }
}

const base = define('import', { version: 1, input: unchecked<{ from: string; size: number }>() })

describe('a loop of children', () => {
  it('gives until and delay the outputs of a child, and input and key what the round before left', () => {
    const parent = base
      .step('open', { run: () => 3 })
      .repeat('fetch', page, {
        dependsOn: ['open'],
        input: ({ last, round, input, deps }) => {
          expectTypeOf(last).toEqualTypeOf<PageOutput | undefined>()
          expectTypeOf(deps.open).toEqualTypeOf<number>()
          return { from: `${last?.next.cursor ?? input.from}${round.toFixed()}` }
        },
        until: ({ output, round, input, deps }) => {
          expectTypeOf(output).toEqualTypeOf<PageOutput>()
          return output.next.cursor === null || round > deps.open + input.size
        },
        delay: ({ output }) => output.rows,
        key: ({ round, last, input }) => `${input.from}${round.toFixed()}${last?.next.cursor}`,
        max: 10,
      })
      .step('after', { dependsOn: ['fetch'], run: ({ deps }) => deps.fetch.next.at.slice(1) })
    expectTypeOf<OutputsOf<typeof parent>['fetch']>().toEqualTypeOf<PageOutput>()
  })

  it('gives the first round what first returns', () => {
    base.repeat('fetch', page, {
      first: ({ input }) => ({ next: { cursor: input.from } }),
      input: ({ last }) => {
        expectTypeOf(last).toEqualTypeOf<PageOutput | { next: { cursor: string } }>()
        return { from: last.next.cursor ?? '' }
      },
      until: ({ output }) => output.next.cursor === null,
    })
  })

  it("needs no input if the child takes the parent's, and else needs one that fits", () => {
    base.repeat('fetch', page, { until: () => true })
    const other = define('other', { version: 1, input: unchecked<{ size: number }>() })
    // @ts-expect-error The child takes another input.
    void (() => other.repeat('fetch', page, { until: () => true }))
    // @ts-expect-error The child takes a text.
    void (() => base.repeat('fetch', page, { input: () => ({ from: 1 }), until: () => true }))
  })

  it('takes no options of handlers, and what does not fit does not compile', () => {
    // @ts-expect-error Its rounds have no handler.
    void (() => base.repeat('fetch', page, { run: () => 1, until: () => true }))
    // @ts-expect-error A child is undone by its own compensations.
    void (() => base.repeat('fetch', page, { compensate: () => {}, until: () => true }))
    // @ts-expect-error until is missing.
    void (() => base.repeat('fetch', page, { max: 2 }))
    // @ts-expect-error until must return true or false.
    void (() => base.repeat('fetch', page, { until: ({ round }) => round }))
    // @ts-expect-error One key for all rounds.
    void (() => base.repeat('fetch', page, { key: 'page', until: () => true }))
    // @ts-expect-error No such step.
    void (() => base.repeat('fetch', page, { dependsOn: ['open'], until: () => true }))
    // @ts-expect-error Neither a definition nor a name.
    void (() => base.repeat('fetch', 3, { until: () => true }))
  })

  it("with onFailure: 'continue' has a settled value, detached an id, and by name anything", () => {
    const parent = base
      .repeat('a', page, { onFailure: 'continue', until: () => true })
      .repeat('b', page, { detached: true, until: ({ output }) => output.runId === '' })
      .repeat('c', 'page', { until: ({ output }) => output === 1 })
    expectTypeOf<OutputsOf<typeof parent>['a']>().toEqualTypeOf<Settled<PageOutput>>()
    expectTypeOf<OutputsOf<typeof parent>['b']>().toEqualTypeOf<{ readonly runId: string }>()
    expectTypeOf<OutputsOf<typeof parent>['c']>().toBeUnknown()
  })
})

describe('a loop of handlers', () => {
  it('takes heartbeatTimeout and irreversible, as a step does', () => {
    base.repeat('fetch', {
      run: ({ heartbeat, round }) => heartbeat(round),
      until: () => true,
      heartbeatTimeout: '1m',
      irreversible: true,
    })
    base.repeat('fetch', {
      run: () => 1,
      until: () => true,
      compensate: { run: ({ heartbeat }) => heartbeat(), heartbeatTimeout: '1m' },
    })
    // @ts-expect-error Only a step can be a pivot.
    void (() => base.repeat('fetch', { run: () => 1, until: () => true, pivot: true }))
  })
})
