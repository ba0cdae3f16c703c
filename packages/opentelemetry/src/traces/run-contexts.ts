import { type Context, context, type SpanContext, TraceFlags, type Tracer, trace } from '@opentelemetry/api'
import { Recent } from '../recent.ts'
import { runSpanId, type SpanIds, traceIdOf } from './ids.ts'

/** How often an SDK is looked for while there is none: a worker may end ten thousand runs a second. */
const LOOK_MS = 1_000

/** The name under which a sampler is asked about a run. */
export const RUN = 'belay.run'

/** The span contexts of runs: the same in every process, as both ids follow from the run’s id. */
export class RunContexts {
  readonly #tracer: () => Tracer
  readonly #ids: SpanIds
  readonly #known = new Recent<SpanContext>()
  #isRefused = false
  /** Until when no SDK is looked for, because there was none. */
  #offUntil = 0

  constructor(parts: { readonly tracer: () => Tracer; readonly ids: SpanIds }) {
    this.#tracer = parts.tracer
    this.#ids = parts.ids
  }

  /** Undefined while no SDK is there, and for an SDK that does not use our ids. Its flag says whether the run is sampled. */
  of(runId: string): SpanContext | undefined {
    const known = this.#known.get(runId)
    if (known !== undefined || this.#isRefused || Date.now() < this.#offUntil) return known
    const asked = this.#ask(runId)
    if (asked === undefined) this.#offUntil = Date.now() + LOOK_MS
    else this.#known.set(runId, asked)
    return asked
  }

  /** A context in which a span of this run has this parent: the run’s span, or one below it. */
  below(run: SpanContext, parentId: string = run.spanId): Context {
    return trace.setSpanContext(context.active(), { ...run, spanId: parentId, isRemote: true })
  }

  /**
   * Only a sampler can say whether a trace is sampled, and it is asked when a span without a parent starts. So each process starts the run’s span once, with
   * nothing but its ids, and forgets it: only a span that ends is exported. A sampler that decides by the trace id decides the same everywhere.
   */
  #ask(runId: string): SpanContext | undefined {
    const identity = { traceId: traceIdOf(runId), spanId: runSpanId(runId) }
    const start = () => this.#tracer().startSpan(RUN, { root: true })
    const asked = this.#ids.within(identity, start).spanContext()
    if (!trace.isSpanContextValid(asked)) return undefined
    if (asked.spanId === identity.spanId && asked.traceId === identity.traceId) return asked
    this.#isRefused = true
    console.warn(
      '[belay] The tracer does not use the ids of createTelemetry(), so runs have no spans. Give them to the SDK: new NodeSDK({ idGenerator: telemetry.idGenerator }).',
    )
    return undefined
  }
}

export function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0
}
