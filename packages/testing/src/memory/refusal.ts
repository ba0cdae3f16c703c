import type { JsonText, Outcome } from '@belay/workflow/adapter'
import { refusalOf } from './payload.ts'

/** Why the store can never record an outcome; undefined if it accepts it. */
export function refusalOfAny(outcome: Outcome): string | undefined {
  return payloadsOf(outcome)
    .map(refusalOf)
    .find((refusal) => refusal !== undefined)
}

function payloadsOf(outcome: Outcome): readonly JsonText[] {
  switch (outcome.type) {
    case 'completed':
    case 'repeated':
      return [outcome.output]
    case 'expanded':
      return outcome.items.map(({ value }) => value)
    case 'failed':
      return [outcome.error, outcome.cause ?? null]
    case 'retry':
    case 'compensation_failed':
      return [outcome.error]
    case 'skipped':
    case 'decided':
      return [outcome.branch]
    case 'enters':
    case 'released':
    case 'received':
    case 'waiting':
    case 'compensated':
    case 'relayed':
      return []
  }
}
