import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'

const NANOSECONDS = 1e9
const SHARED_MS = 1_000

let monitor: IntervalHistogram | undefined
let latest: number | undefined
let readAt = Number.NEGATIVE_INFINITY

/** Begins to measure, once for the process. The timer of the measurement does not keep the process alive. */
export function watchEventLoop(): void {
  if (monitor !== undefined) return
  monitor = monitorEventLoopDelay({ resolution: 10 })
  monitor.enable()
}

/**
 * The 99th percentile of the delays since the last reading, in seconds; undefined before the first delay. As Node measures it, and as OpenTelemetry's
 * conventions have it: an idle process shows the 10 ms at which it is sampled. Readings within one second are one, so that several engines of a process
 * do not reset each other's.
 */
export function eventLoopDelay(): number | undefined {
  const now = performance.now()
  if (now - readAt < SHARED_MS) return latest
  readAt = now
  latest = monitor === undefined || monitor.count === 0 ? undefined : monitor.percentile(99) / NANOSECONDS
  monitor?.reset()
  return latest
}
