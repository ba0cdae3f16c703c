import { type LogFields, type Logger, type PinoLike, pinoLogger } from '@belay/workflow'
import { isSpanContextValid, trace } from '@opentelemetry/api'
import type { AttemptSpans } from './attempts.ts'
import { traceIdOf } from './ids.ts'

/**
 * A logger that adds `trace_id` and `span_id` to each message: those of the active span, else of the run and the attempt that the message is about. So a line
 * of the log leads to its span, and the engine’s own lines about a failed step do too.
 */
export function tracedLogger(logger: Logger | PinoLike, attempts: AttemptSpans): Logger {
  const own = 'bindings' in logger ? pinoLogger(logger as PinoLike) : (logger as Logger)
  const write = (level: keyof Logger) => (message: string, fields?: LogFields) =>
    own[level](message, { ...fields, ...identityOf(fields, attempts) })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function identityOf(fields: LogFields | undefined, attempts: AttemptSpans): LogFields {
  const active = trace.getActiveSpan()?.spanContext()
  const { runId, step, direction, attempt } = (fields ?? {}) as Readonly<Record<string, unknown>>
  const isActive = active !== undefined && isSpanContextValid(active)
  if (typeof runId !== 'string') {
    return isActive ? { trace_id: active.traceId, span_id: active.spanId } : {}
  }
  const traceId = traceIdOf(runId)
  // What a handler logs belongs to its innermost span.
  if (isActive && active.traceId === traceId) return { trace_id: traceId, span_id: active.spanId }
  if (typeof step !== 'string' || typeof attempt !== 'number') return { trace_id: traceId }
  if (direction !== 'forward' && direction !== 'undo') return { trace_id: traceId }
  const spanId = attempts.spanIdOf({ runId, step, direction, attempt })
  return spanId === undefined ? { trace_id: traceId } : { trace_id: traceId, span_id: spanId }
}
