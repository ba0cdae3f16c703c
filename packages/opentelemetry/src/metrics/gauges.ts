import { BelayError, type Engine, type Gauges } from '@belay/workflow'
import { eventLoopDelay } from './event-loop.ts'
import { kept, type Measurement } from './labels.ts'
import type { GaugeName } from './names.ts'

/** A gauge without measurements has no value now: a gap, not a zero. */
export type Readings = Readonly<Partial<Record<GaugeName, readonly Measurement[]>>>

/** How long the store may take. */
const ANSWER_MS = 5_000

/** Collections within this time share one reading: there may be two exporters, or a scraper that tries again. */
const SHARED_MS = 1_000

const LATE_MS = 60_000
const WORKERS_MAX = 1_000
const SCHEDULES_MAX = 1_000

const LIVE_STATUSES = [
  'scheduled',
  'running',
  'waiting',
  'parked',
  'paused',
  'compensating',
  'compensation_failed',
] as const

const readings = new WeakMap<Engine, () => Promise<Readings>>()

/**
 * Reads the gauges of an engine. Never rejects, and takes at most 5 s: if the store does not answer by then, `belay.store.up` is 0 and the gauges of the
 * store are left out. Of an engine that was closed, `belay.store.up` is left out too, because nobody asked the store.
 *
 * One collection costs seven statements, one call after another, so that it never takes more than two of the worker's connections: two of `queue()`,
 * which count up to 1,000; two of `workers.list()`, at most 1,000 rows; two of `schedules.list()`, at most 1,000 rows, so a late schedule behind
 * the first 1,000 active ones by name is not counted; one of `limits.list()`, which counts every step that waits for a limit. The last one has no
 * bound of its own: it comes last, and what is late is left out. While a call is unanswered, it is not sent again.
 */
export function readGauges(engine: Engine): Promise<Readings> {
  const read = kept(readings, engine, () => {
    const store = storeCalls(engine)
    return shared(SHARED_MS, () => readAll(engine, store))
  })
  return read()
}

async function readAll(engine: Engine, calls: StoreCalls): Promise<Readings> {
  const delay = eventLoopDelay()
  const answers = await answersOf(calls)
  const gauges = engine.gauges()
  const isUp = answers.queue !== undefined && gauges.outageSince === undefined
  return {
    ...ofWorker(gauges),
    ...ofStore(answers),
    'nodejs.eventloop.delay.p99': optional(delay),
    'belay.store.up': answers.isClosed ? [] : one(isUp ? 1 : 0),
  }
}

/** What the worker of this process knows of itself. Without a worker there are no slots. */
function ofWorker({ state, slots, busy, undosBusy, batch, storeLatencyMs }: Gauges): Readings {
  const { claim, settle } = storeLatencyMs
  return {
    ...(state === 'stopped'
      ? {}
      : {
          'belay.worker.slots': one(slots),
          'belay.worker.busy': one(busy),
          'belay.worker.undos.busy': one(undosBusy),
        }),
    // No call records nothing: 0 says that there was none yet.
    'belay.settle.batch': batch.last === 0 ? [] : one(batch.last),
    'belay.store.latency': [
      ...(claim === undefined ? [] : [{ labels: { call: 'claim' }, value: claim / 1_000 }]),
      ...(settle === undefined ? [] : [{ labels: { call: 'settle' }, value: settle / 1_000 }]),
    ],
  }
}

function ofStore({ queue, workers, schedules, limits }: Answers): Readings {
  return {
    ...(queue === undefined
      ? {}
      : {
          'belay.queue.ready': one(queue.ready.count),
          'belay.queue.oldest.age': one(queue.ready.oldestAgeMs / 1_000),
          'belay.runs.live': LIVE_STATUSES.map((status) => ({
            labels: { status },
            value: queue.liveRuns[status]?.count ?? 0,
          })),
          'belay.undos.parked': one(queue.parkedUndos.count),
        }),
    'belay.workers.live': optional(workers?.filter(({ status }) => status === 'live').length),
    'belay.schedules.late': optional(
      queue &&
        schedules?.filter(
          ({ status, nextAt }) =>
            status === 'active' &&
            nextAt !== undefined &&
            queue.readAt.getTime() - nextAt.getTime() > LATE_MS,
        ).length,
    ),
    'belay.limit.waiting':
      limits?.map(({ name, waiting }) => ({ labels: { limit: name }, value: waiting })) ?? [],
  }
}

interface Answers {
  readonly queue?: Awaited<ReturnType<Engine['queue']>>
  readonly workers?: Awaited<ReturnType<Engine['workers']['list']>>
  readonly schedules?: Awaited<ReturnType<Engine['schedules']['list']>>
  readonly limits?: Awaited<ReturnType<Engine['limits']['list']>>
  readonly isClosed?: boolean
}

type StoreCalls = ReturnType<typeof storeCalls>

function storeCalls(engine: Engine) {
  // One at a time: a call that the store does not answer is joined, not repeated.
  return {
    queue: shared(0, () => engine.queue()),
    workers: shared(0, () => engine.workers.list({ limit: WORKERS_MAX })),
    schedules: shared(0, () => engine.schedules.list({ paused: false, limit: SCHEDULES_MAX })),
    limits: shared(0, () => engine.limits.list()),
  }
}

/** The answers that came in time. */
async function answersOf(calls: StoreCalls): Promise<Answers> {
  const answers: { -readonly [Name in keyof Answers]: Answers[Name] } = {}
  const ask = async () => {
    answers.queue = await calls.queue()
    answers.workers = await calls.workers()
    answers.schedules = await calls.schedules()
    answers.limits = await calls.limits()
  }
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWER_MS)
  })
  const failed = (error: unknown) => {
    answers.isClosed = BelayError.is(error) && error.code === 'engine_closed'
  }
  await Promise.race([ask().catch(failed), over])
  clearTimeout(timer)
  // A copy: what comes later belongs to no reading.
  return { ...answers }
}

/** Until `forMs` after the answer, all calls get the same one. */
function shared<Answer>(forMs: number, call: () => Promise<Answer>): () => Promise<Answer> {
  let latest: Promise<Answer> | undefined
  const forget = () => {
    if (forMs === 0) latest = undefined
    else setTimeout(() => (latest = undefined), forMs).unref()
  }
  return () => {
    if (latest === undefined) {
      latest = call()
      latest.then(forget, forget)
    }
    return latest
  }
}

function one(value: number): readonly Measurement[] {
  return [{ labels: {}, value }]
}

function optional(value: number | undefined): readonly Measurement[] {
  return value === undefined ? [] : one(value)
}
