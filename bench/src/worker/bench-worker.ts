import { setTimeout as delay } from 'node:timers/promises'
import { type Around, createEngine, type Engine, type RunHandle } from '@belay/workflow'
import { WORKLOADS, type Workload } from '../workloads.ts'
import { awaitAll, measureResults, type ResultLatencies, runAndAwait } from './awaiting.ts'
import type { Commands, Latencies, WorkerSetup, WorkerUsage } from './messages.ts'
import { measureWakes, PATIENT, putToSleep, type WakeLatencies } from './patience.ts'
import { putSchedules } from './scheduling.ts'
import { sharedNow } from './shared-clock.ts'
import { type OpenedStore, openStore } from './store.ts'
import { watchedEngine } from './telemetry.ts'
import { type Turn, turns } from './turns.ts'

export type Verb<Name extends keyof Commands> = (
  argument: Commands[Name]['argument'],
) => Promise<Commands[Name]['answer']>

const SCHEMA = 'belay'
const BULK = 50_000
const IN_FLIGHT = 200
const WARM_UP_LATENCIES = 20
const TELL_EVERY_MS = 10

/** One engine with its store that executes commands, and counts the runs that end in it. */
export class BenchWorker implements Readonly<{ [Name in keyof Commands]: Verb<Name> }> {
  readonly #tell: (ended: { runs: number; atMs: number }) => void
  #workload: Workload = WORKLOADS.chain
  #store: OpenedStore | undefined
  #engine: Engine | undefined
  #ended = 0
  #endedAtMs = 0
  #telling = false

  constructor(tell: (ended: { runs: number; atMs: number }) => void) {
    this.#tell = tell
  }

  async open(setup: WorkerSetup): Promise<null> {
    this.#workload = WORKLOADS[setup.workload]
    if (setup.warmUpRuns > 0) await warmUp(setup, this.#workload)
    this.#store = openStore(setup.store, { schema: SCHEMA, name: setup.name ?? 'bench' })
    await this.#store.adapter.open()
    this.#engine = engineOn(this.#store, this.#workload, setup)
    // Children end too, and are part of their parents.
    this.#engine.on(this.#workload.ends, ({ workflow }) => {
      if (workflow === this.#workload.workflow.name) this.#runEnded()
    })
    return null
  }

  async startRuns({
    count,
    by,
    awaits = false,
  }: Commands['startRuns']['argument']): Promise<{ seconds: number }> {
    const engine = this.#opened()
    const since = performance.now()
    if (by === 'bulk') await startInBulk(engine, this.#workload, count, awaits ? awaitAll : undefined)
    else await startOneByOne(engine, this.#workload, count)
    return { seconds: (performance.now() - since) / 1_000 }
  }

  putSchedules(given: Commands['putSchedules']['argument']): Promise<{ seconds: number }> {
    return putSchedules(this.#opened(), this.#workload.workflow, given)
  }

  async work(): Promise<{ atMs: number }> {
    const atMs = sharedNow()
    await this.#opened().start()
    return { atMs }
  }

  async measureLatencies({ runs }: { runs: number }): Promise<Latencies> {
    const engine = this.#opened()
    await engine.start()
    const latencies = { completedMs: [] as number[], resultAfterMs: [] as number[] }
    for (let n = -WARM_UP_LATENCIES; n < runs; n += 1) {
      const { completedMs, resultMs } = await runOnce(engine, this.#workload)
      // A random delay, so that these runs do not synchronise with polling.
      await delay(Math.random() * 5)
      if (n < 0) continue
      latencies.completedMs.push(completedMs)
      latencies.resultAfterMs.push(Math.max(0, resultMs - completedMs))
    }
    return latencies
  }

  runAndAwait(given: Commands['runAndAwait']['argument']): Promise<{ seconds: number }> {
    return runAndAwait(this.#opened(), this.#workload, given)
  }

  measureResults(given: Commands['measureResults']['argument']): Promise<ResultLatencies> {
    return measureResults(this.#opened(), this.#workload, given)
  }

  putToSleep({ count }: { count: number }): Promise<null> {
    return putToSleep(this.#opened(), count)
  }

  measureWakes({ times, round }: { times: number; round: number }): Promise<WakeLatencies> {
    return measureWakes(this.#opened(), { times, from: (round - 1) * times })
  }

  async turns(): Promise<readonly Turn[]> {
    return turns
  }

  async usage(): Promise<WorkerUsage> {
    const { user, system } = process.cpuUsage()
    return {
      cpuMs: (user + system) / 1_000,
      rssMaxBytes: process.resourceUsage().maxRSS * 1_024,
      statements: this.#store?.statements() ?? 0,
    }
  }

  async close(): Promise<null> {
    await this.#engine?.close()
    return null
  }

  #opened(): Engine {
    if (this.#engine === undefined) throw new Error('This worker was not opened.')
    return this.#engine
  }

  /** Reports many ends at once: a message for each would cost more than the run. */
  #runEnded(): void {
    this.#ended += 1
    this.#endedAtMs = sharedNow()
    if (this.#telling) return
    this.#telling = true
    setTimeout(() => {
      this.#telling = false
      this.#tell({ runs: this.#ended, atMs: this.#endedAtMs })
    }, TELL_EVERY_MS)
  }
}

function engineOn(
  store: OpenedStore,
  workload: Workload,
  { keepsAttempts, isSurrounded, telemetry, settings }: WorkerSetup,
): Engine {
  const { workflow } = workload
  const concurrency = settings === 'default' ? {} : { concurrency: workload.concurrency }
  const workflows = workload === WORKLOADS.patient ? PATIENT : [workflow]
  const attempts = keepsAttempts === true ? ({ attempts: 'keep' } as const) : {}
  const around: readonly Around[] = isSurrounded === true ? [(_, next) => next()] : []
  const options = { adapter: store.adapter, workflows, around, ...concurrency, ...attempts }
  return telemetry === undefined ? createEngine(options) : watchedEngine(options, telemetry)
}

async function warmUp(setup: WorkerSetup, workload: Workload): Promise<void> {
  const { store, warmUpRuns } = setup
  // A directory is for the measured runs only.
  const place = store.kind === 'pglite' ? ({ kind: 'memory' } as const) : store
  const engine = engineOn(
    openStore(place, { schema: `warm_up_${process.pid}`, name: 'warm-up' }),
    workload,
    setup,
  )
  let open = warmUpRuns
  const ended = new Promise<void>((resolve) => {
    engine.on(workload.ends, () => {
      open -= 1
      if (open === 0) resolve()
    })
  })
  await startInBulk(engine, workload, warmUpRuns)
  await engine.start()
  await ended
  await engine.close()
}

async function startInBulk(
  engine: Engine,
  { workflow, inputOf }: Workload,
  count: number,
  onStarted: (handles: readonly RunHandle[]) => void = () => {},
): Promise<void> {
  for (let started = 0; started < count; started += BULK) {
    const size = Math.min(BULK, count - started)
    const handles = await engine.runMany(
      workflow,
      Array.from({ length: size }, (_, n) => (inputOf === undefined ? {} : { input: inputOf(started + n) })),
    )
    onStarted(handles)
  }
}

async function startOneByOne(engine: Engine, { workflow }: Workload, count: number): Promise<void> {
  let left = count
  const startNext = async () => {
    while (left > 0) {
      left -= 1
      await engine.run(workflow, undefined)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, startNext))
}

async function runOnce(
  engine: Engine,
  workload: Workload,
): Promise<{ completedMs: number; resultMs: number }> {
  const startedAt = performance.now()
  const completed = new Promise<number>((resolve) => {
    const off = engine.on(workload.ends, () => {
      off()
      resolve(performance.now() - startedAt)
    })
  })
  const run = await engine.run(workload.workflow, undefined)
  await run.result()
  const resultMs = performance.now() - startedAt
  return { completedMs: await completed, resultMs }
}
