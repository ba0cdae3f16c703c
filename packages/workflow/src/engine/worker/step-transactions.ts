import type { TransactionPolicy } from '../../definition/step.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt, Performance } from '../attempt/attempt.ts'
import { transact } from './perform-in-transaction.ts'
import type { SettlerOptions } from './settler.ts'

export interface TransactionsOptions extends Omit<SettlerOptions<Attempt>, 'onRefused' | 'insteadOf'> {
  readonly log: Logger
  /** True when nobody waits any more for what the store would say. */
  readonly isAbandoned: () => boolean
  /** Resolves when the worker's lease is known to hold, or to be over. */
  readonly leaseKnown: () => Promise<void>
  /** Whether it is known to hold. */
  readonly leaseHolds: () => boolean
}

/**
 * The transactional attempts of a session: those that are settled by their own transaction instead of by the settler. The two have the
 * rest in common: what they keep room for, and whom they tell.
 */
export class Transactions {
  readonly #options: TransactionsOptions

  constructor(options: TransactionsOptions) {
    this.#options = options
  }

  /** Resolves to how an attempt ended that is yet to be settled; undefined when it has been, or was given up before its turn came. */
  async perform(attempt: Attempt, policy: TransactionPolicy): Promise<Performance | undefined> {
    const { onResult, onSettled, onUnsure } = this.#options
    const { end, done } = await transact(attempt, policy, {
      ...this.#options,
      reserve: (outcome) => this.#options.reserve([{ item: attempt, outcome }]),
    })
    switch (end?.type) {
      case 'committed':
        onResult({ item: attempt, outcome: end.outcome }, 'settled')
        if (end.settlement === null) onUnsure()
        else onSettled(end.settlement, [{ item: attempt, outcome: end.outcome }])
        break
      case 'fenced':
        onResult({ item: attempt, outcome: end.outcome }, 'lost')
        break
      case 'abandoned':
        onResult({ item: attempt, outcome: end.outcome }, 'abandoned')
        break
      default:
        done()
        return end
    }
    done()
    return undefined
  }
}
