import type { HandlerCall } from './ledger.ts'

export type { HandlerCall } from './ledger.ts'

/** Over a workflow's limit a run counts from its first handler to its last; over a step's limit, each call of a handler counts for itself. */
export type Holder = 'run' | 'call'

export interface Peak {
  readonly limit: string
  readonly key: string
  readonly atOnce: number
  readonly atMs: number
  /** What went on at that moment, with the worker of each. */
  readonly spans: readonly Span[]
}

export interface Span {
  readonly runId: string
  readonly worker: string
  readonly fromMs: number
  readonly toMs: number
}

/** For each key of a limit, how many held it at once at most. */
export function peaksOf(calls: readonly HandlerCall[], holder: Holder): readonly Peak[] {
  return [...byKey(calls)].map(([key, ofKey]) => {
    const spans = holder === 'run' ? spansOfRuns(ofKey) : ofKey.filter((call) => call.toMs > call.fromMs)
    const changes = spans.flatMap(({ fromMs, toMs }) => [
      { atMs: fromMs, by: 1 },
      { atMs: toMs, by: -1 },
    ])
    // What ends as another begins has ended first.
    changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by)
    let now = 0
    let peak = { atOnce: 0, atMs: 0 }
    for (const { atMs, by } of changes) {
      now += by
      if (now > peak.atOnce) peak = { atOnce: now, atMs }
    }
    const { atMs } = peak
    return {
      limit: ofKey[0]!.limit,
      key,
      ...peak,
      spans: spans.filter((span) => span.fromMs <= atMs && span.toMs > atMs),
    }
  })
}

/** How many calls began in the fullest window of this length. */
export function fullestWindow(calls: readonly HandlerCall[], windowMs: number): number {
  const begins = calls.map(({ fromMs }) => fromMs).sort((a, b) => a - b)
  let fullest = 0
  let first = 0
  for (const [index, atMs] of begins.entries()) {
    while (begins[first]! <= atMs - windowMs) first += 1
    fullest = Math.max(fullest, index - first + 1)
  }
  return fullest
}

export interface Spread {
  readonly keys: number
  readonly medianMs: number
  readonly lastMs: number
}

/** When the last call of each key ended, counted from `sinceMs`: the median over the keys, and the last. */
export function spreadOf(calls: readonly HandlerCall[], sinceMs: number): Spread {
  const ends = [...byKey(calls).values()]
    .map((ofKey) => Math.max(...ofKey.map(({ toMs }) => toMs)) - sinceMs)
    .sort((a, b) => a - b)
  return { keys: ends.length, medianMs: ends[Math.floor(ends.length / 2)] ?? 0, lastMs: ends.at(-1) ?? 0 }
}

/** Of a run with calls in several workers, the first names it. */
function spansOfRuns(calls: readonly HandlerCall[]): readonly Span[] {
  const spans = new Map<string, { runId: string; worker: string; fromMs: number; toMs: number }>()
  for (const { runId, worker, fromMs, toMs } of calls) {
    const span = spans.get(runId)
    if (span === undefined) spans.set(runId, { runId, worker, fromMs, toMs })
    else {
      span.fromMs = Math.min(span.fromMs, fromMs)
      span.toMs = Math.max(span.toMs, toMs)
    }
  }
  return [...spans.values()]
}

function byKey(calls: readonly HandlerCall[]): Map<string, HandlerCall[]> {
  const keys = new Map<string, HandlerCall[]>()
  for (const call of calls) {
    const ofKey = keys.get(call.key)
    if (ofKey === undefined) keys.set(call.key, [call])
    else ofKey.push(call)
  }
  return keys
}
