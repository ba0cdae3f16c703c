import type {
  Isolation,
  StepTransaction,
  TransactionOptions,
  TypedTransaction,
} from '../adapter/transaction.ts'
import { definitionError, type Place } from '../graph/place.ts'
import type { TransactionContext } from './handler.ts'
import { checkOptionNames, oneOf, shown } from './option-check.ts'
import type { TransactionPolicy } from './step.ts'

/** The values of the option `transaction` of a step or a compensation. */
export type TransactionOption = boolean | TypedTransaction<unknown>

/** What a transaction adds to a handler's context: a `tx` of the adapter's type, or of unknown type; nothing without a transaction. */
export type ContextOf<Transaction> = [Transaction] extends [undefined | false]
  ? unknown
  : TransactionContext<TxOf<Transaction>>

type TxOf<Transaction> = Transaction extends { readonly '~tx'?: infer Tx }
  ? unknown extends Tx
    ? StepTransaction
    : NonNullable<Tx>
  : StepTransaction

const ISOLATIONS: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']

/** Checks `transaction` and fills in defaults. */
export function transactionPolicy(place: Place, given: unknown): TransactionPolicy | null {
  if (given === undefined || given === false) return null
  if (given === true) return Object.freeze({ isolation: 'read committed' })
  if (typeof given !== 'object') {
    throw definitionError(
      place,
      `transaction is ${shown(given)}, and must be true, false or an object with isolation.`,
    )
  }
  checkOptionNames(place, 'transaction', given, ['isolation'])
  const { isolation } = given as TransactionOptions
  return Object.freeze({
    isolation: isolation === undefined ? 'read committed' : oneOf(place, 'isolation', isolation, ISOLATIONS),
  })
}
