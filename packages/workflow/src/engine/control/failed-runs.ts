import { BelayError } from '../../errors.ts'
import { isContended, isUnavailable, isUnreachable } from '../base/outage.ts'

/** After so many runs in a row that are locked, or that the store refuses, the store itself is probably in trouble. */
const FAILED_IN_A_ROW_MAX = 8

/** Of an action on many runs: tells the failure of one run from a failure that ends the action. */
export class FailedRuns {
  #inARow = 0

  succeeded(): void {
    this.#inARow = 0
  }

  /** Throws the error unless it is about one run: its state does not allow the action, or its rows are locked, damaged or refused by the store. */
  assertOfOne(error: unknown): void {
    if (isUnreachable(error)) throw error
    if (isContended(error) || isUnavailable(error)) {
      this.#inARow += 1
      if (this.#inARow > FAILED_IN_A_ROW_MAX) throw error
      return
    }
    if (BelayError.is(error) && error.code !== 'action_refused') throw error
    this.succeeded()
  }
}
