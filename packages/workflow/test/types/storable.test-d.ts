import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { define, type OutputsOf, type Settled, type Stored } from '../../src/definition/index.ts'

const base = define('w', { version: 1 })

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
  readonly parent?: Tree | undefined
}
type Branded = string & { readonly '~brand': 'order' }
type Size = 'S' | 'L' | 3
interface Money {
  readonly amount: bigint
  toJSON(): string
}
declare const values: {
  readonly json: Json
  readonly tree: Tree
  readonly branded: Branded
  readonly size: Size
  readonly money: Money
  readonly url: URL
  readonly named: { readonly name: string; readonly message: string }
  readonly either: Promise<number> | string
}

test('what JSON keeps compiles, and is known to those that depend on it', () => {
  const steps = base
    .step('json', { run: () => values.json })
    .step('tree', { run: async () => values.tree })
    .step('branded', { run: () => [values.branded, values.size] as const })
    .step('money', { run: () => ({ price: values.money, at: new Date(), page: values.url }) })
    .step('named', { run: () => values.named })
    .step('either', { run: () => values.either })
    .step('unknown', { run: (): unknown => 1n })
    .step('optional', { run: (): { readonly note?: string | undefined } | undefined => undefined })
    .step('literal', { run: () => 'done' })
    .step('never', {
      run: () => {
        throw new Error('no')
      },
    })
  steps.step('last', {
    dependsOn: ['json', 'money', 'either', 'unknown', 'optional', 'literal', 'tree'],
    run: ({ deps }) => {
      expectTypeOf(deps.json).toEqualTypeOf<Stored<Json>>()
      expectTypeOf(deps.tree.children[0]!.name).toEqualTypeOf<string>()
      expectTypeOf(deps.money).toEqualTypeOf<{ price: string; at: string; page: string }>()
      expectTypeOf(deps.either).toEqualTypeOf<string | number>()
      expectTypeOf(deps.unknown).toBeUnknown()
      expectTypeOf(deps.optional).toEqualTypeOf<{ readonly note?: string } | undefined>()
      expectTypeOf(deps.literal).toEqualTypeOf<string>()
    },
  })
})

test('settled values can be returned, and hold no stack; errors as they are stored can be returned as well', () => {
  const steps = base
    .step('risky', { onFailure: 'continue', run: () => 1 })
    .map('items', { onFailure: 'collect', over: () => [1], run: ({ item }) => item })
    .step('summary', { dependsOn: ['risky', 'items'], run: ({ deps }) => deps })
  steps.step('last', {
    dependsOn: ['summary', 'risky'],
    run: ({ deps }) => {
      expectTypeOf(deps.summary.risky).toEqualTypeOf<Stored<Settled<number>>>()
      expectTypeOf(deps.summary.items[0]!).toEqualTypeOf<Stored<Settled<number>>>()
      // @ts-expect-error settled values have no stack
      return deps.risky.status === 'failed' ? deps.risky.error.stack : null
    },
  })
  base.finally('tell', { run: ({ cause, undo }) => ({ cause, undo }) })
})

test('a Date is typed as the string that it becomes: for dependents, callers, compensations and rounds', () => {
  const at = (): { at: Date; list: (Date | undefined)[] } => ({ at: new Date(), list: [] })
  type Kept = { at: string; list: (string | null)[] }
  const steps = base
    .step('made', {
      run: at,
      compensate: ({ output }) => expectTypeOf(output).toEqualTypeOf<Kept>(),
    })
    .map('mapped', {
      over: () => [new Date()],
      run: ({ item }) => expectTypeOf(item).toEqualTypeOf<string>(),
    })
    .step('reads', {
      dependsOn: ['made'],
      run: ({ deps }) => expectTypeOf(deps.made).toEqualTypeOf<Kept>(),
    })
  expectTypeOf<OutputsOf<typeof steps>['made']>().toEqualTypeOf<Kept>()
})

test('what JSON refuses or loses does not compile: as an output, an input, a payload, or the answer of a poll', () => {
  // @ts-expect-error a bigint
  base.step('a', { run: () => 1n })
  // @ts-expect-error a bigint, deep inside, later
  base.step('a', { run: async () => ({ list: [{ amount: 1n }] }) })
  // @ts-expect-error a Map in a union
  base.step('a', { run: (): { by: Map<string, number> | null } => ({ by: null }) })
  // @ts-expect-error a function that may be there
  base.step('a', { run: (): { then?: () => void } => ({}) })
  // @ts-expect-error an Error
  base.step('a', { run: () => ({ error: new TypeError('no') }) })
  // @ts-expect-error a bigint in the input as the schema gives it
  define('w', { version: 1, input: z.object({ amount: z.bigint() }) })
  // @ts-expect-error a Set in a signal's payload
  base.waitForSignal('a', { schema: z.set(z.string()) })
  // @ts-expect-error a bigint
  base.poll('a', { every: '1s', until: () => 1n })
})

test('a schema may take what cannot be stored, and make something else of it', () => {
  const converting = define('w', { version: 1, input: z.bigint().transform(String) })
  converting.step('a', { run: ({ input }) => expectTypeOf(input).toEqualTypeOf<string>() })
})
