import type { Outcome } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import { presentable } from '../../thrown.ts'
import type { EventHub } from '../base/events.ts'
import type { Runtime } from '../base/runtime.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { Attempt } from './attempt.ts'
import { outcomeEvent, stepEvent } from './step-events.ts'

export interface AttemptReportsParts {
  readonly workerId: string
  readonly runtime: Runtime
  readonly log: Logger
  readonly events: EventHub
  /** Whether errors of handlers are logged. */
  readonly dev: boolean
}

/** Reports the attempts of one worker identity to the log and to listeners. */
export class AttemptReports {
  readonly #parts: AttemptReportsParts

  constructor(parts: AttemptReportsParts) {
    this.#parts = parts
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

  /** Its outcome is recorded. */
  settled(attempt: Attempt, outcome: Outcome): void {
    const { events, runtime, workerId } = this.#parts
    outcomeEvent(events, outcome, () => {
      const durationMs = runtime.clock.now() - attempt.startedAt
      return { ...stepEvent(attempt, workerId), durationMs }
    })
  }

  /** A handler threw in development mode. Otherwise listeners are told, with the error as it is stored: without its stack. */
  threw(attempt: Attempt, end: AttemptEnd, { type }: Outcome): void {
    const then = AFTER_ERROR[type]
    const error = end.type === 'unstorable' || isFailure(end) ? end.error : undefined
    if (then === undefined || error === undefined) return
    const { runId, step, direction, attempt: number, workflow, version } = stepEvent(attempt, '')
    const what = direction === 'undo' ? `The compensation of step "${step}"` : `Step "${step}"`
    const message = `${what} of run ${runId} failed in attempt ${number}${then}.`
    this.#parts.log.error(message, { workflow, version, error: presentable(error) })
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

/** Not if it stopped because it was told to. */
function isFailure(end: AttemptEnd): end is Extract<AttemptEnd, { type: 'threw' }> {
  return end.type === 'threw' && end.interrupted === undefined
}

/** What follows from an error. */
const AFTER_ERROR: Partial<Readonly<Record<Outcome['type'], string>>> = {
  retry: ', and will be tried again',
  failed: ' for good',
  compensation_failed: ' for good: its run waits for an operator',
}
