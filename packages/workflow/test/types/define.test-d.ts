import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { SerialisedError } from '../../src/cause.ts'
import {
  define,
  type InputOf,
  type OutputsOf,
  type Stored,
  unchecked,
  type Workflow,
  type WorkflowDefinition,
} from '../../src/definition/index.ts'

interface Receipt {
  readonly chargeId: string
  readonly chargedAt: Date
  readonly note?: string | undefined
}
declare const receipt: Receipt
type StoredReceipt = { readonly chargeId: string; readonly chargedAt: string; readonly note?: string }

const orderSchema = z.object({
  id: z.string(),
  placedAt: z.coerce.date(),
  express: z.boolean().default(false),
})
const order = define('order', { version: 1, input: orderSchema })
const plain = define('plain', { version: 1 })

describe('input', () => {
  it('is what the schema takes in run(), and what the store makes of its result in handlers', () => {
    expectTypeOf<InputOf<typeof order>>().toEqualTypeOf<z.input<typeof orderSchema>>()
    order.step('a', {
      run: ({ input }) =>
        expectTypeOf(input).toEqualTypeOf<{ id: string; placedAt: string; express: boolean }>(),
      compensate: ({ input }) => expectTypeOf(input.placedAt).toEqualTypeOf<string>(),
    })
  })

  it('is unknown without a schema, and declared with an unchecked one', () => {
    expectTypeOf<InputOf<typeof plain>>().toBeUnknown()
    plain.step('a', { run: ({ input }) => expectTypeOf(input).toBeUnknown() })
    const declared = define('declared', { version: 1, input: unchecked<{ at: Date }>() })
    expectTypeOf<InputOf<typeof declared>>().toEqualTypeOf<{ at: Date }>()
    declared.step('a', { run: ({ input }) => expectTypeOf(input).toEqualTypeOf<{ at: string }>() })
  })
})

describe('deps', () => {
  const base = plain
    .step('charge', { run: async () => receipt })
    .step('count', { run: () => 3 })
    .step('nothing', { run: async () => {} })

  it('hold exactly the declared steps, as awaited and stored', () => {
    base.step('next', {
      dependsOn: ['charge', 'count'],
      run: ({ deps }) => {
        expectTypeOf(deps.charge).toEqualTypeOf<StoredReceipt>()
        expectTypeOf(deps.count).toEqualTypeOf<number>()
        expectTypeOf<keyof typeof deps>().toEqualTypeOf<'charge' | 'count'>()
      },
    })
  })

  it('are empty without dependencies', () => {
    base.step('next', { run: ({ deps }) => expectTypeOf<keyof typeof deps>().toBeNever() })
  })

  it('of a step that returns nothing are undefined', () => {
    base.step('next', {
      dependsOn: ['nothing'],
      run: ({ deps }) => expectTypeOf(deps.nothing).toEqualTypeOf<undefined>(),
    })
  })

  it('are typed wherever dependsOn stands', () => {
    base.step('next', {
      run: ({ deps }) => expectTypeOf(deps.count).toEqualTypeOf<number>(),
      dependsOn: ['count'],
    })
  })

  it('reach the compensation', () => {
    base.step('next', {
      dependsOn: ['count'],
      run: () => 1,
      compensate: ({ deps }) => expectTypeOf({ ...deps }).toEqualTypeOf<{ count: number }>(),
    })
  })

  it('may be named by a constant', () => {
    const parents = ['charge', 'count'] as const
    base.step('next', {
      dependsOn: parents,
      run: ({ deps }) => expectTypeOf(deps.count).toEqualTypeOf<number>(),
    })
  })
})

describe('a compensation', () => {
  it('gets the output of its step', () => {
    plain.step('charge', {
      run: async () => receipt,
      compensate: ({ output, undoOf, error }) => {
        expectTypeOf(output).toEqualTypeOf<StoredReceipt>()
        expectTypeOf(undoOf).toEqualTypeOf<'completed' | 'failed' | 'cancelled'>()
        expectTypeOf(error).toEqualTypeOf<SerialisedError | undefined>()
      },
    })
  })

  it('with options of its own gets it, too', () => {
    plain.step('charge', {
      run: () => 'c-1',
      compensate: {
        run: ({ output }) => expectTypeOf(output).toEqualTypeOf<string>(),
        retry: false,
        timeout: '5s',
      },
    })
  })

  it('of a started step may have no output, as undoOf says', () => {
    plain.step('charge', {
      run: () => 'c-1',
      compensateOn: 'started',
      compensate: ({ output, undoOf, error }) => {
        expectTypeOf(output).toEqualTypeOf<string | undefined>()
        if (undoOf === 'completed') {
          expectTypeOf(output).toEqualTypeOf<string>()
        } else {
          expectTypeOf(output).toEqualTypeOf<undefined>()
          expectTypeOf(error).toEqualTypeOf<SerialisedError | undefined>()
        }
      },
    })
  })
})

describe('outputs', () => {
  it('are those of all steps', () => {
    const definition = plain.step('a', { run: () => 1 }).step('b', { dependsOn: ['a'], run: async () => 'x' })
    expectTypeOf<OutputsOf<typeof definition>>().toEqualTypeOf<{ readonly a: number; readonly b: string }>()
    expectTypeOf(definition).toExtend<WorkflowDefinition>()
    expectTypeOf(definition.name).toEqualTypeOf<'plain'>()
  })

  it('are stored values', () => {
    expectTypeOf<Stored<Date>>().toEqualTypeOf<string>()
    expectTypeOf<Stored<void>>().toEqualTypeOf<undefined>()
    expectTypeOf<Stored<undefined>>().toEqualTypeOf<undefined>()
    expectTypeOf<Stored<null>>().toEqualTypeOf<null>()
    expectTypeOf<Stored<0 | false | ''>>().toEqualTypeOf<0 | false | ''>()
    expectTypeOf<Stored<unknown>>().toBeUnknown()
    expectTypeOf<Stored<never>>().toBeNever()
    // biome-ignore lint/suspicious/noExplicitAny: a handler that returns any, like a parsed response, is what is tested
    expectTypeOf<Stored<any>>().toBeAny()
    // biome-ignore lint/suspicious/noConfusingVoidType: the type of a handler that returns in some branches only
    expectTypeOf<Stored<Receipt | void>>().toEqualTypeOf<StoredReceipt | undefined>()
    expectTypeOf<Stored<Map<string, number>>>().toExtend<object>()
    expectTypeOf<Stored<readonly [Date, number]>>().toEqualTypeOf<[string, number]>()
  })
})

describe('a loop', () => {
  it('may add steps whose names are only known at run time', () => {
    let loose: Workflow<'plain', unknown, Readonly<Record<string, unknown>>> = plain
    for (const name of ['a', 'b'] as string[]) {
      loose = loose.step(name, { dependsOn: [`before-${name}`], run: ({ deps }) => deps['before-a'] })
    }
    expectTypeOf(loose).toExtend<WorkflowDefinition>()
  })
})
