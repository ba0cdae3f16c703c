import type { TransactionPolicy } from '../../definition/step.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { ValueLimits } from '../attempt/telling.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { Lease } from './lease.ts'
import { transact } from './perform-in-transaction.ts'
import type { SettlerOptions } from './settler.ts'

export interface TransactionsOptions extends Omit<SettlerOptions<Attempt>, 'onRefused' | 'replacement'> {
  readonly log: Logger
  /** True when the session no longer waits for the store's answers. */
  readonly isAbandoned: () => boolean
  readonly lease: Lease
  readonly valueLimits: ValueLimits
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
  async perform(attempt: Attempt, policy: TransactionPolicy): Promise<AttemptEnd | undefined> {
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
