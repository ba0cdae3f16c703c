import type {
  Adapter,
  NewValue,
  Outcome,
  Published,
  Settlement,
  StepTransaction,
  Transacted,
  TransactRequest,
} from '../../adapter/index.ts'
import type { TransactionPolicy } from '../../definition/step.ts'
import type { Logger } from '../../logger.ts'
import type { Attempt } from '../attempt/attempt.ts'
import type { ValueLimits } from '../attempt/telling.ts'
import { conflictDelayMs, outageDelayMs } from '../base/backoff.ts'
import { isUnavailable, type OutageWatch } from '../base/outage.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import { type AttemptEnd, endedWell } from '../decisions/decide.ts'
import type { Reservation } from './capacity.ts'
import type { Lease } from './lease.ts'
import { refusedOutput, slotHolders } from './outcome-of.ts'

/** How often one attempt is repeated, after a conflict or a rollback without an answer, before it fails. */
const REPEATS_MAX = 10

export interface TransactParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly log: Logger
  readonly workerId: string
  readonly keepAttempts: boolean
  readonly valueLimits: ValueLimits
  /** Reserves slots for the steps that the outcome makes ready, before it is settled. */
  readonly reserve: (outcome: Outcome) => Reservation
  /** True when the session no longer waits for the store's answers. */
  readonly isAbandoned: () => boolean
  readonly lease: Lease
}

/** How a transactional attempt ended: committed with its transaction, or rolled back and still to be settled like any other attempt. */
export type TransactEnd =
  /** `settlement` is null if the store recorded the outcome but the answer was lost: it may have handed back claims. */
  | { readonly type: 'committed'; readonly outcome: Outcome; readonly settlement: Settlement | null }
  | { readonly type: 'fenced'; readonly outcome: Outcome }
  | { readonly type: 'abandoned'; readonly outcome: Outcome }
  | AttemptEnd

/** The end, and a function to call once its consequences are handled. */
export interface TransactEnded {
  /** Undefined if the attempt was abandoned before its turn. */
  readonly end: TransactEnd | undefined
  readonly done: () => void
}

/** `isOutage`: the store failed, for as long as it takes. Else another transaction was in the way, which must not happen again and again. */
type Try = TransactEnded | { readonly again: unknown; readonly isOutage: boolean }

/**
 * Performs one attempt whose handler and settlement share a transaction. After a conflict (a serialisation failure or deadlock) the same attempt is
 * repeated, which costs no retry. So is one in whose transaction the store failed, until the store has recovered. If the answer to its COMMIT is lost, the store is asked for the final state: only a transaction known to be
 * rolled back is repeated.
 */
export async function transact(
  attempt: Attempt,
  policy: TransactionPolicy,
  parts: TransactParts,
): Promise<TransactEnded> {
  let conflicts = 0
  let outages = 0
  for (;;) {
    const tried = await new Transaction(attempt, policy, parts).run()
    if (!('again' in tried)) return tried
    const { again, isOutage } = tried
    if (!isOutage && conflicts === REPEATS_MAX) return { end: { type: 'threw', error: again }, done: nothing }
    conflicts += Number(!isOutage)
    outages += Number(isOutage)
    const { runtime, log, outage } = parts
    log.debug('A transaction was rolled back and is repeated.', { ...attempt.claim, error: again })
    if (isOutage) outage.failed(again)
    const delayMs = isOutage
      ? outageDelayMs(outages, runtime.random)
      : conflictDelayMs(conflicts, runtime.random)
    await pause(runtime.clock, delayMs)
    if (attempt.phase === 'settling') return { end: undefined, done: nothing }
  }
}

/** One try of the transaction. */
class Transaction {
  readonly #attempt: Attempt
  readonly #policy: TransactionPolicy
  readonly #parts: TransactParts
  #end: AttemptEnd | undefined
  #outcome: Outcome | undefined
  #done: () => void = nothing
  #told: readonly NewValue[] = []
  /** The transaction was rolled back before its handler was called, because a renewal of the lease would wait for it. */
  #isLeaseDoubted = false

  constructor(attempt: Attempt, policy: TransactionPolicy, parts: TransactParts) {
    this.#attempt = attempt
    this.#policy = policy
    this.#parts = parts
  }

  async run(): Promise<Try> {
    const { adapter, workerId, keepAttempts } = this.#parts
    const work: TransactRequest['work'] = (tx) => this.#work(tx)
    for (;;) {
      try {
        const { isolation } = this.#policy
        const signal = this.#attempt.cutOff.signal
        const result = await adapter.transact({ workerId, isolation, signal, work, keepAttempts })
        if (this.#isLeaseDoubted) {
          this.#isLeaseDoubted = false
          await this.#parts.lease.known()
          // The lease has ended, and the attempt with it.
          if (!this.#parts.lease.holds) return this.#ended(this.#endBefore())
          continue
        }
        if (this.#outcome === undefined) {
          const isAgain = result.type === 'conflict' || result.type === 'unavailable'
          return isAgain ? this.#repeated(result) : this.#ended(this.#endBefore())
        }
        return this.#settled(this.#outcome, result)
      } catch (error) {
        if (this.#outcome !== undefined) return this.#ask(this.#outcome, error)
        if (this.#end !== undefined) return this.#ended(this.#end)
        if (!isUnavailable(error)) return this.#failed(error)
        // The transaction never began: wait for the outage to end; this costs no retry.
        await this.#waitFor(error)
        if (this.#attempt.phase === 'settling' || this.#attempt.isInterrupted)
          return this.#ended(this.#endBefore())
      }
    }
  }

  async #work(tx: StepTransaction) {
    const attempt = this.#attempt
    // The wait for a turn may have outlasted the lease. In the only session of a store a renewal waits for this transaction to end.
    if (this.#parts.adapter.singleSession === true && !this.#parts.lease.holds) {
      this.#isLeaseDoubted = true
      return null
    }
    await this.#parts.lease.known()
    // The attempt may have been abandoned while it waited.
    if (attempt.phase === 'settling') return null
    const end = rolledBack(await attempt.performWithin(tx))
    this.#end = end
    // Rethrow for the store, which knows which errors are conflicts.
    if (end.type === 'threw') throw end.error
    if (end.type !== 'returned' && end.type !== 'repeats') return null
    const outcome = endedWell(attempt.claim, end)
    const room = this.#parts.reserve(outcome)
    this.#done = room.end
    this.#outcome = outcome
    attempt.decided()
    const { telling } = attempt
    const frees = slotHolders([{ item: attempt, outcome }])
    if (telling === undefined) return { outcome, handBackMax: room.max, frees }
    telling.end(true)
    const keysMax = this.#parts.valueLimits.valuesMax
    this.#told = telling.take(Number.POSITIVE_INFINITY)
    return { outcome, handBackMax: room.max, frees, told: { values: this.#told, keysMax } }
  }

  #settled(outcome: Outcome, result: Awaited<ReturnType<Adapter['transact']>>): Try {
    switch (result.type) {
      case 'settled':
        this.#parts.outage.succeeded()
        return this.#ended({ type: 'committed', outcome, settlement: result.settlement })
      case 'lost':
        return this.#ended({ type: 'fenced', outcome })
      case 'rolled_back':
        return this.#failed(result.error)
      case 'refused':
        // Rolled back with everything that the handler did: a failure like any other, and no effect is there.
        return this.#failed(refusedOutput(this.#attempt, result.reason))
      case 'unpublished':
        return this.#unpublished(result.results)
      case 'conflict':
      case 'unavailable':
        return this.#repeated(result)
    }
  }

  #unpublished(results: readonly Published[]): Try {
    const telling = this.#attempt.telling!
    this.#told.forEach((value, index) => {
      telling.answered(value, results[index])
    })
    if (telling.failure !== undefined) return this.#failed(telling.failure)
    return this.#again(new Error('another transaction held the row of the step that published'))
  }

  /** The answer to the COMMIT was lost: asks the store whether the outcome was recorded or rolled back. */
  async #ask(outcome: Outcome, lost: unknown): Promise<Try> {
    const { adapter, workerId, outage, isAbandoned } = this.#parts
    let error = lost
    while (!isAbandoned()) {
      try {
        const [isRecorded] = await adapter.recorded({ workerId, outcomes: [outcome] })
        outage.succeeded()
        if (isRecorded === true) return this.#ended({ type: 'committed', outcome, settlement: null })
        return this.#again(lost)
      } catch (unanswered) {
        error = unanswered
      }
      await this.#waitFor(error)
    }
    return this.#ended({ type: 'abandoned', outcome })
  }

  #failed(error: unknown): Try {
    if (this.#outcome !== undefined) this.#attempt.undecided()
    return this.#ended({ type: 'threw', error })
  }

  #repeated({ type, error }: Extract<Transacted, { type: 'conflict' | 'unavailable' }>): Try {
    return this.#outcome === undefined
      ? { again: error, isOutage: type === 'unavailable' }
      : this.#again(error, type === 'unavailable')
  }

  #again(error: unknown, isOutage = false): Try {
    this.#attempt.undecided()
    this.#done()
    return { again: error, isOutage }
  }

  /** How the attempt ended without a recorded outcome: as the handler did, or before the handler was called. */
  #endBefore(): AttemptEnd | undefined {
    if (this.#end !== undefined) return this.#end
    return this.#attempt.phase === 'settling' ? undefined : { type: 'given_up' }
  }

  #ended(end: TransactEnd | undefined): TransactEnded {
    return { end, done: this.#done }
  }

  #waitFor(error: unknown): Promise<void> {
    const { runtime, outage } = this.#parts
    return pause(runtime.clock, outage.failed(error))
  }
}

/** The handler's effect was rolled back, so an output that cannot be stored is an ordinary failure. */
function rolledBack(end: AttemptEnd): AttemptEnd {
  return end.type === 'unstorable' ? { type: 'threw', error: end.error } : end
}

function nothing() {}
