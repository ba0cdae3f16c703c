import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { CreatePeer, Peer } from './peer.ts'

export interface Workload {
  /** The module that exports `createPeer`. */
  readonly module: string
  /** An empty database. */
  readonly url: string
  /** Runs created before the worker starts, then drained. */
  readonly drainRuns: number
  /** Single runs on an idle system. */
  readonly latencyRuns: number
  /** No further single run begins after this time. */
  readonly latencyBudgetMs: number
}

/** What one workload measured. If a peer's time was too short for a part, that part is empty. */
export interface Measured {
  readonly settings: string
  readonly stepsPerRun: 1 | 3
  readonly startedPerSecond: number
  readonly stepsPerSecond: number
  readonly latenciesMs: readonly number[]
}

const WARM_UP_RUNS = 10
// If one run takes seconds, ten for warming up would leave no time to measure.
const WARM_UP_SHARE = 0.3
const IN_FLIGHT = 200
const BULK = 1_000

if (process.send !== undefined) {
  process.once('disconnect', () => process.exit())
  process.once('message', (workload: Workload) => {
    measure(workload).then(
      (measured) => report({ measured }),
      (error: unknown) => report({ reason: error instanceof Error ? error.message : String(error) }),
    )
  })
}

export type Report = { readonly measured: Measured } | { readonly reason: string }

// Peers keep timers and connections after close(), so the process ends here.
function report(message: Report): void {
  process.send?.(message, () => process.exit())
}

async function measure(workload: Workload): Promise<Measured> {
  const { createPeer }: { createPeer: CreatePeer } = await import(workload.module)
  const peer = createPeer()
  const completions = countCompletions()
  const database = new pg.Client(workload.url)
  await database.connect()
  await peer.prepare({ url: workload.url, lastStepRan: completions.add })
  const completed = (runs: number) => untilCompleted({ peer, completions, database, runs })

  let startedPerSecond = 0
  let stepsPerSecond = 0
  if (workload.drainRuns > 0) {
    startedPerSecond = workload.drainRuns / (await seconds(() => startRuns(peer, workload.drainRuns)))
    // Autovacuum does this within a minute. Until then, the planner guesses at tables that were empty a moment ago.
    await database.query('analyze')
    const drained = await seconds(async () => {
      await peer.startWorker()
      await completed(workload.drainRuns)
    })
    stepsPerSecond = (workload.drainRuns * peer.stepsPerRun) / drained
  } else {
    await peer.startWorker()
  }

  const latenciesMs = await measureLatencies({ peer, completed, workload })
  await Promise.race([peer.close(), delay(2_000)])
  return {
    settings: peer.settings,
    stepsPerRun: peer.stepsPerRun,
    startedPerSecond,
    stepsPerSecond,
    latenciesMs,
  }
}

async function startRuns(peer: Peer, count: number): Promise<void> {
  const size = peer.startRuns === undefined ? IN_FLIGHT : BULK
  for (let started = 0; started < count; started += size) {
    const batch = Math.min(size, count - started)
    if (peer.startRuns !== undefined) await peer.startRuns(batch)
    else await Promise.all(Array.from({ length: batch }, () => peer.startRun()))
  }
}

async function measureLatencies(given: {
  peer: Peer
  completed: (runs: number) => Promise<void>
  workload: Workload
}): Promise<number[]> {
  const { latencyRuns, latencyBudgetMs } = given.workload
  let started = given.workload.drainRuns
  const runOnce = async (): Promise<number> => {
    started += 1
    const took = await seconds(async () => {
      await given.peer.startRun()
      await given.completed(started)
    })
    // A random delay, so that these runs do not synchronise with a peer's polling.
    await delay(Math.random() * 20)
    return took * 1_000
  }

  if (latencyRuns === 0) return []
  const startedAt = performance.now()
  const elapsed = () => performance.now() - startedAt
  for (let n = 0; n < WARM_UP_RUNS && elapsed() < WARM_UP_SHARE * latencyBudgetMs; n += 1) await runOnce()
  const latencies: number[] = []
  while (latencies.length < latencyRuns && elapsed() < latencyBudgetMs) latencies.push(await runOnce())
  return latencies
}

/** Resolves when the last step of this many runs has run and the database holds no open run: it measures completed work, not called handlers. */
async function untilCompleted(given: {
  peer: Peer
  completions: Completions
  database: pg.Client
  runs: number
}): Promise<void> {
  await given.completions.reached(given.runs)
  for (;;) {
    const { rows } = await given.database.query<{ count: string }>(given.peer.countOpen)
    if (Number(rows[0]?.count) === 0) return
    if (given.runs > 1_000) await delay(5)
  }
}

interface Completions {
  readonly add: () => void
  readonly reached: (count: number) => Promise<void>
}

/** Counts in memory during the work, so that counting costs the database nothing. */
function countCompletions(): Completions {
  let count = 0
  let waiting: { target: number; resolve: () => void } | undefined
  return {
    add() {
      count += 1
      if (waiting !== undefined && count >= waiting.target) waiting.resolve()
    },
    reached: (target) =>
      new Promise((resolve) => {
        if (count >= target) resolve()
        else waiting = { target, resolve }
      }),
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}
