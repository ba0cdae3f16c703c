import type { Outcome } from '../adapter/index.ts'
import type { SerialisedError } from '../cause.ts'
import type { Attempt } from './attempt.ts'
import { tryNumber } from './decide.ts'
import type { EventHub, StepEvent } from './events.ts'

export function stepEvent(attempt: Attempt, workerId: string): StepEvent {
  const { claim, definition, step } = attempt
  return {
    runId: claim.runId,
    workflow: definition.name,
    version: definition.version,
    step: step.name,
    direction: claim.direction,
    attempt: tryNumber(claim),
    workerId,
  }
}

/** Tells of a recorded outcome. Relays are the engine's own affair. */
export function outcomeEvent(
  events: EventHub,
  outcome: Outcome,
  event: () => StepEvent & { readonly durationMs: number },
): void {
  switch (outcome.type) {
    case 'completed':
    case 'compensated':
      events.emit(`step.${outcome.type}`, event)
      break
    case 'failed':
    case 'compensation_failed':
      events.emit(`step.${outcome.type}`, () => ({ ...event(), error: parse(outcome.error) }))
      break
    case 'retry':
      events.emit('step.retrying', () => ({
        ...event(),
        error: parse(outcome.error),
        delayMs: outcome.delayMs,
      }))
      break
    case 'released':
      events.emit('step.released', event)
      break
    case 'relayed':
      break
  }
}

function parse(error: string): SerialisedError {
  return JSON.parse(error)
}
