import type { Around, EngineEvents, HandledAttempt } from '@belay/workflow'
import {
  type Attributes,
  context,
  type Link,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { Recent } from '../recent.ts'
import { type AttributeName, attributes, errorType } from './attributes.ts'
import { attemptSpanId, groupSpanId, randomSpanId, type SpanIds, undoSpanId } from './ids.ts'
import { isSampled, type RunContexts } from './run-contexts.ts'

/** The most rounds in which a step was undone and ran again that the log tells apart. */
const ROUNDS_MAX = 8

/** What messages of the log say of an attempt. */
type AttemptOfStep = Pick<HandledAttempt, 'runId' | 'step' | 'direction' | 'attempt'>

interface AttemptSpansParts {
  readonly tracer: () => Tracer
  readonly ids: SpanIds
  readonly runs: RunContexts
  /** Epoch milliseconds; undefined for the SDK’s own, finer clock. */
  readonly now: (() => number) | undefined
}

/** One span for each attempt: the parent of what its handler does. */
export class AttemptSpans {
  readonly #parts: AttemptSpansParts
  /** The spans of attempts of this process, by the ids that follow from the attempts. */
  readonly #recent = new Recent<string>()
  #isCalled = false

  constructor(parts: AttemptSpansParts) {
    this.#parts = parts
  }

  /** Whether an engine has called the hook. */
  get isCalled(): boolean {
    return this.#isCalled
  }

  /** The hook for `createEngine({ around })`. */
  readonly around: Around = (attempt, next) => {
    this.#isCalled = true
    const run = this.#parts.runs.of(attempt.runId)
    if (run === undefined) return next()
    // What the handler does belongs to the same trace, and is left out with it.
    if (!isSampled(run)) return context.with(trace.setSpanContext(context.active(), run), next)
    const span = this.#start(attempt, run)
    const done = context.with(trace.setSpan(context.active(), span), next)
    return done.then(
      () => this.#end(span),
      (error: unknown) => {
        failed(span, error)
        this.#end(span)
      },
    )
  }

  /** The span of an attempt that lost its worker, and may have children that its worker has exported. */
  lost(event: EngineEvents['step.recovered']): void {
    const run = this.#parts.runs.of(event.runId)
    if (run === undefined || !isSampled(run)) return
    const spanId = event.kind === 'poll' ? randomSpanId() : attemptSpanId(event.idempotencyKey, event.attempt)
    const { name, parentId, step } = placeOf({ ...event, partOf: partOf(event.step) })
    const start = () =>
      this.#parts.tracer().startSpan(
        name,
        {
          ...startingAt(event.startedAt),
          attributes: {
            ...stepAttributes(event, step),
            ...attributes({ 'belay.attempt.lost': true, 'error.type': 'lease_lost' }),
          },
          links: linksOf(event, run),
        },
        this.#parts.runs.below(run, parentId),
      )
    const span = this.#parts.ids.within({ traceId: run.traceId, spanId }, start)
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'The worker of this attempt was lost.' })
    this.#end(span)
  }

  /** The span of an attempt of this process. Undefined for one that is not sampled, or began long ago, and for the check of a poll. */
  spanIdOf({ runId, step, direction, attempt }: AttemptOfStep): string | undefined {
    // Only the idempotency key knows the round: the newest that this process has seen is meant.
    for (let round = ROUNDS_MAX; round > 0; round -= 1) {
      const effect = round === 1 ? `${runId}:${step}` : `${runId}:${step}:${round}`
      const derived = attemptSpanId(direction === 'undo' ? `${effect}:undo` : effect, attempt)
      const spanId = this.#recent.get(derived)
      if (spanId !== undefined) return spanId
    }
    return undefined
  }

  #start(attempt: HandledAttempt, run: SpanContext): Span {
    const { runs, tracer, ids, now } = this.#parts
    const { name, parentId, step } = placeOf(attempt)
    const spanId = this.#idOf(attempt)
    const options = {
      ...startingAt(now?.()),
      attributes: stepAttributes(attempt, step),
      links: linksOf(attempt, run),
    }
    const start = () => tracer().startSpan(name, options, runs.below(run, parentId))
    return ids.within({ traceId: run.traceId, spanId }, start)
  }

  /** Each check of a poll begins with attempt 1, and a transaction is repeated as the same attempt: those have ids of their own. */
  #idOf({ kind, idempotencyKey, attempt }: HandledAttempt): string {
    if (kind === 'poll') return randomSpanId()
    const derived = attemptSpanId(idempotencyKey, attempt)
    const spanId = this.#recent.get(derived) === undefined ? derived : randomSpanId()
    this.#recent.set(derived, spanId)
    return spanId
  }

  #end(span: Span): void {
    span.end(this.#parts.now?.())
  }
}

/** Where an attempt stands in its run's trace. Names have no keys of items: they would be too many. */
function placeOf({
  runId,
  step,
  partOf,
  direction,
}: Pick<HandledAttempt, 'runId' | 'step' | 'partOf' | 'direction'>): {
  readonly name: string
  readonly step: string
  readonly parentId: string | undefined
} {
  const named = partOf === undefined ? step : `${partOf}[]`
  if (direction === 'undo') {
    return { name: `undo ${named}`, step: partOf ?? step, parentId: undoSpanId(runId) }
  }
  const parentId = partOf === undefined ? undefined : groupSpanId(runId, partOf)
  return { name: named, step: partOf ?? step, parentId }
}

/** The map or loop of an item's or a round's name, like `resize[3]`. No other step has such a name. */
function partOf(step: string): string | undefined {
  return step.endsWith(']') ? step.slice(0, step.indexOf('[')) : undefined
}

/** Written out: a worker makes them for every attempt. */
function stepAttributes(event: HandledAttempt | EngineEvents['step.recovered'], step: string): Attributes {
  const own: Attributes = {
    'belay.workflow': event.workflow,
    'belay.version': event.version,
    'belay.run.id': event.runId,
    'belay.step': step,
    'belay.direction': event.direction,
    'belay.attempt': event.attempt,
    'belay.idempotency_key': event.idempotencyKey,
  } satisfies Partial<Record<AttributeName, unknown>>
  if ('itemKey' in event && event.itemKey !== undefined) own['belay.item.key'] = event.itemKey
  if ('index' in event && event.index !== undefined) own['belay.item.index'] = event.index
  if ('round' in event && event.round !== undefined) own['belay.round'] = event.round
  return own
}

/** A retry leads to the attempt before it, which may have run in another process. */
function linksOf(
  { attempt, idempotencyKey, kind }: Pick<HandledAttempt, 'attempt' | 'idempotencyKey'> & { kind: string },
  run: SpanContext,
): Link[] {
  if (attempt === 1 || kind === 'poll') return []
  const before = { ...run, spanId: attemptSpanId(idempotencyKey, attempt - 1) }
  return [{ context: before, attributes: attributes({ 'belay.link': 'retry_of' }) }]
}

function failed(span: Span, error: unknown): void {
  const type = errorType(error)
  span.setAttribute('error.type', type)
  // Told to stop: that is no failure of the step's own.
  if (INTERRUPTED.has(type)) return
  const exception = exceptionOf(error)
  span.recordException(exception)
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message })
}

const INTERRUPTED: ReadonlySet<string> = new Set(['run_stopping', 'worker_stopping'])

/** User code may throw anything: errors of another realm, and even what cannot be read. */
function exceptionOf(thrown: unknown): Error {
  try {
    const { name, message } = (thrown ?? {}) as { readonly name?: unknown; readonly message?: unknown }
    const isError = typeof name === 'string' && typeof message === 'string'
    return isError ? (thrown as Error) : new Error(String(thrown))
  } catch {
    return new Error('A value that cannot be shown was thrown.')
  }
}

/** Without a time a span starts now. */
function startingAt(startTime: Date | number | undefined): { readonly startTime?: Date | number } {
  return startTime === undefined ? {} : { startTime }
}
