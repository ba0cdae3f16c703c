import type { EngineEvents } from '@belay/workflow'
import { isSpanContextValid, type Span, TraceFlags, trace } from '@opentelemetry/api'
import { Recent } from '../recent.ts'
import { attributes } from './attributes.ts'
import { runSpanId, traceIdOf } from './ids.ts'

/** The spans of callers that start runs: a caller’s span leads to the run, and the run’s to the caller’s. */
export class Callers {
  // A span that nobody else holds has ended, and takes no more links.
  readonly #spans = new Recent<WeakRef<Span>>()

  /** For `createEngine({ traceparent })`: the caller’s active span, in the form that a run carries. */
  readonly traceparent = (): string | undefined => {
    const span = trace.getActiveSpan()
    if (span === undefined) return undefined
    const { traceId, spanId, traceFlags } = span.spanContext()
    if (!isSpanContextValid({ traceId, spanId, traceFlags })) return undefined
    const written = `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
    if (span.isRecording()) this.#spans.set(written, new WeakRef(span))
    return written
  }

  /** Links the span that started this run to it. */
  started({ runId, tags }: EngineEvents['run.started']): void {
    const tag = tags.find((tag) => tag.startsWith(TAG))
    const span = tag === undefined ? undefined : this.#spans.get(tag.slice(TAG.length))?.deref()
    if (span === undefined || !span.isRecording()) return
    const run = { traceId: traceIdOf(runId), spanId: runSpanId(runId), traceFlags: TraceFlags.SAMPLED }
    span.addLink({ context: run, attributes: attributes({ 'belay.link': 'started' }) })
  }
}

const TAG = 'traceparent:'
