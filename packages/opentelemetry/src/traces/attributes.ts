import type { Attributes } from '@opentelemetry/api'

/** The attributes of spans, with what each means. `docs/observability.md` has this table: a test compares them. */
export const ATTRIBUTES = {
  'belay.workflow': 'The name of the workflow',
  'belay.version': 'Its version',
  'belay.run.id': 'The id of the run; without its dashes it is the trace id',
  'belay.run.key': 'The key that the run was started with',
  'belay.run.status': 'How the run ended: completed, failed, compensated or cancelled',
  'belay.run.stopped_by': 'Why the run stopped: step_failed, cancelled, deadline or limit_reached',
  'belay.step': 'The name of the step, without the key of an item',
  'belay.direction': 'forward for a handler, undo for a compensation',
  'belay.attempt': 'The number of the attempt, as the handler sees it',
  'belay.attempt.lost': 'true if the attempt lost its worker: nobody knows how far it came',
  'belay.item.key': 'The key of the item of a map',
  'belay.item.index': 'Its place in the list, from 0',
  'belay.round': 'The round of a loop, from 1',
  'belay.idempotency_key': 'The key that the handler gives to other systems',
  'belay.wait': 'What a step waited for: sleep, signal, approval or poll',
  'belay.child.id': 'The id of the run that a step started',
  'belay.link': 'What a link leads to: caller, started, parent, child or retry_of',
  'error.type': 'The class of the error, or its code; OpenTelemetry’s own',
} as const

export type AttributeName = keyof typeof ATTRIBUTES

/** Without those that are undefined. */
export function attributes(
  given: Readonly<Partial<Record<AttributeName, string | number | boolean | undefined>>>,
): Attributes {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** What OpenTelemetry’s `error.type` says of a thrown value: its code, else its class. Never its message, which may quote what it was about. */
export function errorType(error: unknown): string {
  try {
    const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown }
    if (typeof code === 'string' && code !== '') return code
    return typeof name === 'string' && name !== '' ? name : '_OTHER'
  } catch {
    // User code may throw anything, even what cannot be read.
    return '_OTHER'
  }
}
