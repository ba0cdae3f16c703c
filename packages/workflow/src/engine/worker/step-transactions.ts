import type { TransactionPolicy } from '../../definition/step.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt, Performance } from '../attempt/attempt.ts'
import { transact } from './perform-in-transaction.ts'
import type { SettlerOptions } from './settler.ts'

export interface TransactionsOptions extends Omit<SettlerOptions<Attempt>, 'onRefused' | 'insteadOf'> {
  readonly log: Logger
  /** True when the session no longer waits for the store's answers. */
  readonly isAbandoned: () => boolean
  /** Resolves when the worker's lease is known to hold or to have ended. */
  readonly leaseKnown: () => Promise<void>
  /** Whether the lease is known to hold. */
  readonly leaseHolds: () => boolean
}

/**
 * Performs the transactional attempts of a session. Their own transaction settles them instead of the settler. Reservations and callbacks are the
 * same as the settler's.
 */
export class Transactions {
  readonly #options: TransactionsOptions

  constructor(options: TransactionsOptions) {
    this.#options = options
  }

  /** Resolves to the end of an attempt that must still be settled; undefined if it was settled, or was abandoned before its turn. */
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
