import type { Engine, EngineEvents, RunSnapshot } from '@belay/workflow'
import { diag, type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import pLimit from 'p-limit'
import { Recent } from '../recent.ts'
import type { AttemptSpans } from './attempts.ts'
import { attributes } from './attributes.ts'
import { type SpanDraft, spansOfEnd } from './ended-run.ts'
import { runSpanId, type SpanIds } from './ids.ts'
import { isSampled, RUN, type RunContexts } from './run-contexts.ts'

/** How many ended runs are read at once. */
const READS_MAX = 2

/** How many ended runs wait to be read, at most. What comes then gets a span without what its rows would tell. */
const WAITING_MAX = 1_000

interface RunSpansParts {
  readonly tracer: () => Tracer
  readonly ids: SpanIds
  readonly runs: RunContexts
  readonly attempts: AttemptSpans
  readonly now: () => number
}

/** Exports the spans of runs whose end this process recorded, from their rows: nothing of them is kept in memory meanwhile, which may be days. */
export class RunSpans {
  readonly #parts: RunSpansParts
  readonly #engine: Engine
  readonly #stoppedAt = new Recent<Date>()
  readonly #reads = pLimit(READS_MAX)
  #workerId: string | undefined
  #hasWarned = false

  constructor(parts: RunSpansParts, engine: Engine) {
    this.#parts = parts
    this.#engine = engine
  }

  workerStarted({ workerId }: EngineEvents['worker.started']): void {
    this.#workerId = workerId
  }

  stopped({ runId }: EngineEvents['run.compensating']): void {
    this.#stoppedAt.set(runId, new Date(this.#parts.now()))
  }

  /** Resolves once its spans are given to the SDK: an engine that closes waits for that. */
  async ended(event: EngineEvents['run.ended']): Promise<void> {
    const run = this.#parts.runs.of(event.runId)
    if (run === undefined || !isSampled(run)) return
    const isTooMany = this.#reads.pendingCount >= WAITING_MAX
    const drafts = isTooMany ? undefined : await this.#reads(() => this.#read(event)).catch(tell)
    for (const draft of drafts ?? [unread(event, this.#parts.now())]) this.#emit(draft)
  }

  async #read({ runId }: EngineEvents['run.ended']): Promise<readonly SpanDraft[] | undefined> {
    const run = await this.#engine.runs.get(runId, { items: { limit: 0 } })
    if (run === undefined) return undefined
    this.#checkAttempts(run)
    const history = await this.#engine.runs.history(runId)
    return spansOfEnd({ run, history, stoppedAt: this.#stoppedAt.get(runId) })
  }

  /** Without the hook a run is one span, and nothing else would say why. */
  #checkAttempts({ steps }: RunSnapshot): void {
    if (this.#hasWarned || this.#parts.attempts.isCalled) return
    const isOwn = (step: (typeof steps)[number]) =>
      step.kind === 'work' && step.status === 'completed' && step.workerId === this.#workerId
    if (!steps.some(isOwn)) return
    this.#hasWarned = true
    console.warn(
      '[belay] Steps have no spans, because the engine does not have the hooks of createTelemetry(). Give them to it: createEngine({ ...telemetry.engineOptions }), and beside hooks of your own around: [...telemetry.engineOptions.around, own].',
    )
  }

  #emit(draft: SpanDraft): void {
    const { tracer, ids, runs } = this.#parts
    const run = runs.of(draft.runId)
    if (run === undefined || !isSampled(run)) return
    const { name, parentId, startAt, endAt, links = [], events = [], error } = draft
    const options = { startTime: startAt, links: [...links], root: parentId === undefined }
    const identity = { traceId: run.traceId, spanId: draft.spanId }
    // A sampler is asked about a run as everywhere else, by its ids alone: all else is set afterwards.
    const asked = parentId === undefined ? RUN : name
    const start = (): Span => tracer().startSpan(asked, options, runs.below(run, parentId))
    const span = ids.within(identity, start).updateName(name)
    span.setAttributes(draft.attributes)
    for (const event of events) span.addEvent(event.name, event.attributes, event.at)
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
    span.end(endAt)
  }
}

function tell(error: unknown): undefined {
  diag.warn('@belay/opentelemetry: a run could not be read after its end. Its span stands alone.', error)
}

/** The span of a run whose rows could not be read: from what the event tells. */
function unread(event: EngineEvents['run.ended'], endedAt: number): SpanDraft {
  const { runId, workflow, version, key, status, durationMs } = event
  return {
    ...{ runId, spanId: runSpanId(runId), parentId: undefined, name: workflow },
    startAt: new Date(endedAt - durationMs),
    endAt: new Date(endedAt),
    attributes: attributes({
      'belay.workflow': workflow,
      'belay.version': version,
      'belay.run.id': runId,
      'belay.run.key': key,
      'belay.run.status': status,
    }),
  }
}
