import { type Outcome, skipOf } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import type { EngineEvents, EventHub, SettledStepEvent, StepEvent } from '../base/events.ts'
import type { Attempt } from './attempt.ts'

export function stepEvent(
  attempt: Pick<Attempt, 'claim' | 'definition' | 'step'>,
  workerId: string,
): StepEvent {
  const { claim, definition, step } = attempt
  return {
    runId: claim.runId,
    workflow: definition.name,
    version: definition.version,
    step: step.name,
    direction: claim.direction,
    attempt: claim.attempt,
    workerId,
  }
}

/** Written out: a copy of {@link stepEvent} with one more member costs more than all else about an event. */
export function settledStepEvent(
  attempt: Pick<Attempt, 'claim' | 'definition' | 'step'>,
  workerId: string,
  durationMs: number,
): SettledStepEvent {
  const { claim, definition, step } = attempt
  return {
    runId: claim.runId,
    workflow: definition.name,
    version: definition.version,
    step: step.name,
    direction: claim.direction,
    attempt: claim.attempt,
    workerId,
    durationMs,
    waitedMs: claim.waitedMs ?? 0,
  }
}

/** The event for a recorded outcome. `thrown`: what ended a failed attempt. Relays and decisions have none: they are internal to the engine. */
export function outcomeEvent(
  events: EventHub,
  outcome: Outcome,
  eventOf: () => SettledStepEvent,
  thrown?: unknown,
): void {
  const name = EVENT_OF[outcome.type]
  if (name === null || !events.has(name)) return
  switch (outcome.type) {
    case 'completed':
    case 'expanded':
    case 'repeated':
    case 'received':
      events.emit('step.completed', eventOf())
      break
    case 'compensated':
      events.emit('step.compensated', eventOf())
      break
    case 'waiting':
      events.emit('step.waiting', { ...eventOf(), wake: outcome.wake ?? undefined })
      break
    case 'failed': {
      const { error, continues = false } = outcome
      events.emit('step.failed', { ...eventOf(), error: parse(error), thrown, continues })
      break
    }
    case 'compensation_failed':
      events.emit('step.compensation_failed', { ...eventOf(), error: parse(outcome.error), thrown })
      break
    case 'retry':
      events.emit('step.retrying', {
        ...eventOf(),
        error: parse(outcome.error),
        thrown,
        delayMs: outcome.delayMs,
      })
      break
    case 'released':
      events.emit('step.released', eventOf())
      break
    case 'skipped':
      events.emit('step.skipped', { ...eventOf(), reason: skipOf(outcome.branch)! })
      break
    case 'decided':
    case 'enters':
    case 'relayed':
      break
  }
}

const EVENT_OF: Readonly<Record<Outcome['type'], keyof EngineEvents | null>> = {
  completed: 'step.completed',
  expanded: 'step.completed',
  repeated: 'step.completed',
  received: 'step.completed',
  waiting: 'step.waiting',
  compensated: 'step.compensated',
  failed: 'step.failed',
  compensation_failed: 'step.compensation_failed',
  retry: 'step.retrying',
  released: 'step.released',
  skipped: 'step.skipped',
  decided: null,
  enters: null,
  relayed: null,
}

/** Events that tell of the ends of attempts. */
export const OF_ENDS: readonly (keyof EngineEvents)[] = [
  ...new Set(Object.values(EVENT_OF).filter((name) => name !== null)),
]

function parse(error: string): SerialisedError {
  return JSON.parse(error)
}
