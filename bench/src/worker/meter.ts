import type { Meter } from '@opentelemetry/api'
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'

/** A meter of the SDK whose reader exports nowhere. */
export function meter(): Meter {
  return new MeterProvider({ readers: [new Nowhere()] }).getMeter('bench')
}

class Nowhere extends MetricReader {
  protected async onShutdown(): Promise<void> {}
  protected async onForceFlush(): Promise<void> {}
}
