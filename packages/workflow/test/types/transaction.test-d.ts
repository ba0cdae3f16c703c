import { describe, expectTypeOf, it } from 'vitest'
import type { StepTransaction, TypedTransaction } from '../../src/adapter/index.ts'
import { define, unchecked } from '../../src/definition/index.ts'

interface MyTransaction {
  query(text: string): Promise<number>
}
declare const mine: TypedTransaction<MyTransaction>
const base = define('w', { version: 1, input: unchecked<{ amount: number }>() }).step('first', {
  run: () => 1,
})

describe('tx', () => {
  it('has the type that the adapter’s form of the option gives it', () => {
    base.step('debit', {
      dependsOn: ['first'],
      transaction: mine,
      run: ({ tx, input, deps }) => {
        expectTypeOf(tx).toEqualTypeOf<MyTransaction>()
        expectTypeOf(input).toEqualTypeOf<{ amount: number }>()
        expectTypeOf(deps.first).toEqualTypeOf<number>()
        return 'debited'
      },
      compensate: {
        transaction: mine,
        run: ({ tx, output }) => {
          expectTypeOf(tx).toEqualTypeOf<MyTransaction>()
          expectTypeOf(output).toEqualTypeOf<string>()
        },
      },
    })
  })

  it('has an unknown type with true or only an isolation', () => {
    base.step('a', { transaction: true, run: ({ tx }) => expectTypeOf(tx).toEqualTypeOf<StepTransaction>() })
    base.step('b', {
      transaction: { isolation: 'serializable' },
      run: ({ tx }) => expectTypeOf(tx).toEqualTypeOf<StepTransaction>(),
    })
  })

  it('does not exist without a transaction', () => {
    base.step('a', {
      // @ts-expect-error this step has no transaction
      run: ({ tx }) => tx,
    })
    base.step('b', {
      transaction: false,
      // @ts-expect-error nor has this one
      run: ({ tx }) => tx,
    })
    base.step('c', {
      transaction: mine,
      run: ({ tx }) => tx.query('select 1'),
      // @ts-expect-error what the step has, its compensation has not
      compensate: ({ tx }) => tx,
    })
    base.step('d', {
      run: () => 1,
      compensate: {
        // @ts-expect-error nor has a compensation with options of its own
        run: ({ tx }) => tx,
      },
    })
  })

  it('may exist only in the compensation', () => {
    base.step('a', {
      run: () => 1,
      compensate: {
        transaction: mine,
        run: ({ tx, output }) => {
          expectTypeOf(tx).toEqualTypeOf<MyTransaction>()
          expectTypeOf(output).toEqualTypeOf<number>()
        },
      },
    })
  })

  it('is typed wherever the option transaction stands, and outputs keep their types', () => {
    const made = base.step('a', {
      run: async ({ tx }) => tx.query('select 1'),
      transaction: mine,
    })
    made.step('b', { dependsOn: ['a'], run: ({ deps }) => expectTypeOf(deps.a).toEqualTypeOf<number>() })
  })

  it('accepts only isolation levels of the database', () => {
    // @ts-expect-error there is no such isolation
    base.step('a', { run: () => 1, transaction: { isolation: 'snapshot' } })
    // @ts-expect-error transaction is true, false or options
    base.step('a', { run: () => 1, transaction: 'yes' })
  })
})
