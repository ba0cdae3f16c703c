import type { Outcome } from '../adapter/index.ts'
import type { TransactionPolicy } from '../definition/step.ts'
import type { Logger } from '../logger.ts'
import type { Attempt, Performance } from './attempt.ts'
import type { SettlerOptions } from './settler.ts'
import { transact } from './transact.ts'

export interface TransactionsOptions extends Omit<SettlerOptions<Attempt>, 'onRefused'> {
  readonly log: Logger
  /** True when nobody waits any more for what the store would say. */
  readonly isAbandoned: () => boolean
}

/**
 * The transactional attempts of a session: those that are settled by their own transaction instead of by the settler. The two have the
 * rest in common: what they keep room for, and whom they tell.
 */
export class Transactions {
  readonly #options: TransactionsOptions
  /** Those whose end may lease steps to this worker. */
  readonly #leasing = new Set<Promise<void>>()
  #paused = false

  constructor(options: TransactionsOptions) {
    this.#options = options
  }

  /** Resolves to how an attempt ended that is yet to be settled; undefined when it has been, or was given up before its turn came. */
  async perform(attempt: Attempt, policy: TransactionPolicy): Promise<Performance | undefined> {
    const { onResult, onSettled, onUnsure } = this.#options
    const { end, done } = await transact(attempt, policy, {
      ...this.#options,
      submit: (outcome) => this.#submit(attempt, outcome),
    })
    switch (end?.type) {
      case 'committed':
        onResult({ item: attempt, outcome: end.outcome }, 'settled')
        if (end.settlement === null) onUnsure()
        else onSettled(end.settlement)
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

  /** Lets those end that may lease steps; others go on without leasing any, until `resume`. */
  async pause(): Promise<void> {
    this.#paused = true
    while (this.#leasing.size > 0) await Promise.all(this.#leasing)
  }

  resume(): void {
    this.#paused = false
  }

  /** Keeps room for what the end of this attempt may lease. */
  #submit(item: Attempt, outcome: Outcome): { readonly handBackMax: number; readonly done: () => void } {
    const { reserve, unreserve } = this.#options
    const handBackMax = this.#paused ? 0 : reserve([{ item, outcome }])
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    if (handBackMax > 0) this.#leasing.add(ended)
    const done = () => {
      unreserve(handBackMax)
      this.#leasing.delete(ended)
      end()
    }
    return { handBackMax, done }
  }
}
