import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'
import { createTelemetry, type Telemetry, type TelemetryOptions } from '../../src/index.ts'
import { type TreeSpan, treeOf } from './tree.ts'

interface Traced {
  readonly telemetry: Telemetry
  /** All that was exported. */
  spans(): readonly ReadableSpan[]
}

/** Telemetry with an SDK of its own, which is the global one until the test ends. */
export function traced({
  sampler,
  ...options
}: TelemetryOptions & { readonly sampler?: Sampler } = {}): Traced {
  const telemetry = createTelemetry(options)
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    idGenerator: telemetry.idGenerator,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(() => {
    trace.disable()
    context.disable()
  })
  return { telemetry, spans: () => exporter.getFinishedSpans() }
}

/** A span of the SDK, in the form of {@link TreeSpan}. */
export function treeSpan(span: ReadableSpan): TreeSpan {
  const { traceId, spanId } = span.spanContext()
  return {
    ...{ name: span.name, traceId, spanId, parentId: span.parentSpanContext?.spanId },
    ...{ startMs: ms(span.startTime), endMs: ms(span.endTime) },
    ...{ status: span.status.code, attributes: span.attributes },
    links: span.links.map(({ context, attributes }) => ({
      ...{ traceId: context.traceId, spanId: context.spanId, link: attributes?.['belay.link'] },
    })),
  }
}

function ms([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/** The tree of one run. */
export function treeOfRun(spans: readonly ReadableSpan[], runId: string): readonly string[] {
  const traceId = runId.replaceAll('-', '')
  return treeOf(spans.map(treeSpan).filter((span) => span.traceId === traceId))
}
