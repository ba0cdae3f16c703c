import type { Outcome } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import type { EventHub } from '../base/events.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Attempt } from './attempt.ts'
import { type Failure, logFailure } from './log-failure.ts'
import { OF_ENDS, outcomeEvent, settledStepEvent, stepEvent } from './step-events.ts'

export interface AttemptReportsParts {
  readonly workerId: string
  readonly runtime: Runtime
  readonly log: Logger
  readonly events: EventHub
}

/** Reports the attempts of one worker identity to the log and to listeners. */
export class AttemptReports {
  readonly #parts: AttemptReportsParts
  /** What ended those that failed. */
  readonly #failures = new WeakMap<Attempt, Failure>()

  constructor(parts: AttemptReportsParts) {
    this.#parts = parts
  }

  /** Somebody listens to the ends of attempts. */
  get areHeard(): boolean {
    const { events } = this.#parts
    return OF_ENDS.some((name) => events.has(name))
  }

  /** Its handler is about to be called. */
  begun(attempt: Attempt): void {
    const { events, workerId } = this.#parts
    if (events.has('step.started')) events.emit('step.started', stepEvent(attempt, workerId))
  }

  /** The store has a value that it published, or its progress if the key is null. */
  published(attempt: Parameters<typeof stepEvent>[0], key: string | null): void {
    const { events, workerId } = this.#parts
    if (!events.has('step.published')) return
    events.emit('step.published', { ...stepEvent(attempt, workerId), key: key ?? undefined })
  }

  /** It failed. The log and listeners hear of it once that is recorded. */
  failed(attempt: Attempt, failure: Failure): void {
    this.#failures.set(attempt, failure)
  }

  /** Its outcome is recorded. */
  settled(attempt: Attempt, outcome: Outcome): void {
    const failure = this.#failures.get(attempt)
    const { events, log, runtime, workerId } = this.#parts
    const eventOf = () => {
      const { startedAt } = attempt
      const durationMs = startedAt === 0 ? 0 : toMicroseconds(runtime.clock.now() - startedAt)
      return settledStepEvent(attempt, workerId, durationMs)
    }
    outcomeEvent(events, outcome, eventOf, failure?.error)
    if (failure === undefined) return
    const { waitedMs: _, ...told } = eventOf()
    logFailure(log, outcome, { ...told, error: failure.error }, failure)
  }

  discarded(attempt: Attempt, reason: 'lease_lost' | 'released' | 'timed_out'): void {
    const { log, events, workerId } = this.#parts
    const event = stepEvent(attempt, workerId)
    log.warn('A result was discarded: its attempt was over.', { ...event, reason })
    events.emit('step.discarded', { ...event, reason })
  }

  /** Its outcome waits for another transaction. */
  heldUp(attempt: Attempt, error: unknown): void {
    const { log, events, workerId } = this.#parts
    const event = stepEvent(attempt, workerId)
    const message =
      'The outcome of a step waits to be recorded: another transaction holds a row of its run. It is recorded once that transaction has ended, and nothing else waits for it.'
    log.warn(message, { ...event, error })
    events.emit('step.held_up', event)
  }

  /** Steps were found that the store had leased to this worker, but the answer was lost. */
  adopted(steps: number): void {
    const { log, events, workerId } = this.#parts
    log.info('Found steps that were leased to this worker without its knowledge; it runs them now.', {
      workerId,
      steps,
    })
    events.emit('lease.adopted', { workerId, steps })
  }
}

/** Rounds to the precision that clocks have. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
