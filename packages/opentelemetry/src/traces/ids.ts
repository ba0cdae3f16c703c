import { hash, randomBytes } from 'node:crypto'

/** The ids of a span that is about to start. */
export interface SpanIdentity {
  /** Used only for a span without a parent. */
  readonly traceId: string
  readonly spanId: string
}

/**
 * What the SDK's option `idGenerator` takes, from `@opentelemetry/sdk-trace-base`. Spans of runs get ids that follow from the run, so that processes agree on
 * them without talking; all other spans get random ones.
 */
export interface IdGenerator {
  generateTraceId(): string
  generateSpanId(): string
}

/** Gives the next span that starts an identity of our choice. The SDK asks for ids while `startSpan()` runs, and never later. */
export class SpanIds implements IdGenerator {
  #spanId: string | undefined
  #traceId: string | undefined

  generateTraceId(): string {
    const traceId = this.#traceId ?? randomBytes(16).toString('hex')
    this.#traceId = undefined
    return traceId
  }

  generateSpanId(): string {
    const spanId = this.#spanId ?? randomBytes(8).toString('hex')
    this.#spanId = undefined
    return spanId
  }

  /** Calls `start`, in which exactly one span with this identity starts. */
  within<Started>({ traceId, spanId }: SpanIdentity, start: () => Started): Started {
    this.#traceId = traceId
    this.#spanId = spanId
    try {
      return start()
    } finally {
      // No tracer asked, or none of the SDK's: the next span is somebody else's.
      this.#traceId = undefined
      this.#spanId = undefined
    }
  }
}

export function traceIdOf(runId: string): string {
  return runId.replaceAll('-', '')
}

/** The span of a run. */
export function runSpanId(runId: string): string {
  return spanId('run', runId)
}

/** The span under which all undos of a run stand. */
export function undoSpanId(runId: string): string {
  return spanId('undo', runId)
}

/** The span under which the items of a map, or the rounds of a loop, stand. */
export function groupSpanId(runId: string, step: string): string {
  return spanId('group', runId, step)
}

/** The span of an attempt. Its idempotency key names the run, the step, the item, the round and the direction. */
export function attemptSpanId(idempotencyKey: string, attempt: number): string {
  return spanId('attempt', idempotencyKey, attempt)
}

/** 16 hex digits that follow from these parts. */
export function spanId(...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.join('\n')).slice(0, 16)
}

/** An id that nothing else has. */
export function randomSpanId(): string {
  return randomBytes(8).toString('hex')
}
