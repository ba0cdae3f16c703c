import { isContended, isUnavailable, isUnreachable } from '../../adapter/store-errors.ts'
import type { Clock } from '../../clock.ts'
import { BelayError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { outageDelayMs } from './backoff.ts'
import type { EventHub } from './events.ts'
import { Loop, type LoopOptions } from './loop.ts'
import type { Meter } from './meter.ts'
import type { SetAside } from './set-aside.ts'

export { isContended, isUnavailable, isUnreachable }

/** Tracks whether one kind of call reaches the store. Logs once when the calls begin to fail and once when they succeed again. */
export class OutageWatch {
  readonly #during: string
  readonly #log: Logger
  readonly #events: EventHub
  readonly #random: () => number
  readonly #meter: Meter | undefined
  readonly #aside: SetAside | undefined
  #tries = 0

  constructor(parts: {
    during: string
    log: Logger
    events: EventHub
    random: () => number
    meter?: Meter
    /** Remembers for `doctor()` that the store refuses these calls. */
    aside?: SetAside
  }) {
    this.#during = parts.during
    this.#log = parts.log
    this.#events = parts.events
    this.#random = parts.random
    this.#meter = parts.meter
    this.#aside = parts.aside
  }

  succeeded(): void {
    if (this.#tries === 0) return
    this.#tries = 0
    this.#aside?.forget({ during: this.#during })
    this.#log.info('The store answers again.', { during: this.#during })
    this.#events.emit('store.recovered', { during: this.#during })
  }

  /** Records a failed call. Returns the delay before the next try, in milliseconds. */
  failed(error: unknown): number {
    this.#tries += 1
    if (isUnreachable(error)) this.#meter?.unanswered()
    if (!isPassing(error)) {
      this.#log.error('A call to the store failed unexpectedly.', { during: this.#during, error })
      this.#events.emit('error', { during: this.#during, error })
    } else if (this.#tries === 1) {
      this.#log.warn(isUnreachable(error) ? UNREACHABLE : REFUSED, { during: this.#during, error })
      this.#events.emit('store.unavailable', { during: this.#during, message: error.message })
    }
    if (isUnavailable(error) && !isUnreachable(error)) this.#aside?.note({ during: this.#during }, error)
    return outageDelayMs(this.#tries, this.#random)
  }
}

const UNREACHABLE = 'The store cannot be reached; trying again.'
const REFUSED = 'The store answers, but refuses this call for now; trying again.'

/** A loop whose rounds call the store: their failures are watched. */
export function watchedLoop(
  clock: Clock,
  outage: OutageWatch,
  { work, ...options }: Pick<LoopOptions, 'intervalMs' | 'mayRest' | 'idling' | 'work'>,
): Loop {
  return new Loop({
    ...options,
    clock,
    work: async () => {
      await work()
      outage.succeeded()
    },
    onError: (error) => outage.failed(error),
  })
}

/** Whether the error is the store's own answer, so that the call is known to have had no effect. */
export function isAnswered(error: unknown): boolean {
  return BelayError.is(error) && !isUnreachable(error)
}

/** A later try may succeed. */
export function isPassing(error: unknown): error is BelayError {
  return isUnavailable(error) || isContended(error)
}
