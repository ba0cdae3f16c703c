import type { Store, WorkerUsage } from './worker/messages.ts'
import type { Telemetry } from './worker/telemetry.ts'
import { WorkerProcess } from './worker/worker-process.ts'
import { WORKLOADS, type WorkloadName } from './workloads.ts'

export interface Drain {
  readonly store: Store
  readonly workload: WorkloadName
  readonly runs: number
  /** Worker processes. Default 1. */
  readonly workers?: number
  /** `itself`: the one worker's process, as in a small application. Default: another process, which is gone when the drain begins. */
  readonly startedBy?: 'itself' | 'another'
  readonly warmUpRuns: number
  readonly settings?: 'default' | 'tuned'
  /** The worker awaits the result of every run. Only with `startedBy: 'itself'`. */
  readonly awaitsResults?: boolean
  readonly keepsAttempts?: boolean
  readonly isSurrounded?: boolean
  readonly telemetry?: Telemetry
  /** Default 180 s. */
  readonly timeoutMs?: number
}

/** Functions to call around a drain. */
export interface Around {
  /** The runs wait and the workers are open, but nothing moves yet. */
  ready?(workers: readonly WorkerProcess[]): Promise<void>
  /** Runs during the drain, until the signal says that the drain has ended. */
  during?(signal: AbortSignal): Promise<void>
  /** All runs have ended; the workers are still there. */
  drained?(workers: readonly WorkerProcess[]): Promise<void>
}

export interface Drained {
  readonly startsPerSecond: number
  readonly stepsPerSecond: number
  readonly runsPerSecond: number
  readonly seconds: number
  /** For each worker: its usage from the start of the drain to its end, and its largest size so far. */
  readonly usages: readonly WorkerUsage[]
}

const TIMEOUT_MS = 180_000

/** Starts all runs, then the workers, and measures the time until the last run has ended. Throws if that takes too long. */
export async function drain(given: Drain, around: Around = {}): Promise<Drained> {
  const workers: WorkerProcess[] = []
  try {
    for (let n = 1; n <= (given.workers ?? 1); n += 1) {
      workers.push(await WorkerProcess.open({ ...given, name: `bench_worker_${n}` }))
    }
    const startSeconds = await startRuns(given, workers[0]!)
    await around.ready?.(workers)
    const before = await usagesOf(workers)
    const seconds = await drainWith(workers, given, around)
    const usages = (await usagesOf(workers)).map((usage, n) => since(before[n]!, usage))
    await around.drained?.(workers)
    return {
      seconds,
      usages,
      startsPerSecond: given.runs / startSeconds,
      runsPerSecond: given.runs / seconds,
      stepsPerSecond: (given.runs * WORKLOADS[given.workload].stepsPerRun) / seconds,
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.close()))
  }
}

async function startRuns(given: Drain, worker: WorkerProcess): Promise<number> {
  const start = { count: given.runs, by: 'bulk', awaits: given.awaitsResults === true } as const
  if (given.startedBy === 'itself') return (await worker.tell('startRuns', start)).seconds
  const starter = await WorkerProcess.open({ ...given, warmUpRuns: 0, name: 'bench_starter' })
  try {
    return (await starter.tell('startRuns', start)).seconds
  } finally {
    await starter.close()
  }
}

async function drainWith(workers: readonly WorkerProcess[], given: Drain, around: Around): Promise<number> {
  const over = new AbortController()
  const beside = around.during?.(over.signal)
  // Awaited below. A failure before that must not end the process.
  beside?.catch(() => {})
  try {
    const ended = allEnded(workers, given)
    ended.catch(() => {})
    const started = await Promise.all(workers.map((worker) => worker.tell('work', null)))
    await ended
    const first = Math.min(...started.map(({ atMs }) => atMs))
    const last = Math.max(...workers.map((worker) => worker.ended.atMs))
    return (last - first) / 1_000
  } finally {
    over.abort()
    await beside
  }
}

function allEnded(workers: readonly WorkerProcess[], given: Drain): Promise<void> {
  const timeoutMs = given.timeoutMs ?? TIMEOUT_MS
  const count = () => workers.reduce((sum, worker) => sum + worker.ended.runs, 0)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${count()} of ${given.runs} runs had ended after ${timeoutMs / 1_000} s.`)),
      timeoutMs,
    )
    const look = () => {
      const failure = workers.find((worker) => worker.failure !== undefined)?.failure
      if (failure === undefined && count() < given.runs) return
      clearTimeout(timer)
      if (failure === undefined) resolve()
      else reject(failure)
    }
    for (const worker of workers) worker.onChange(look)
  })
}

function usagesOf(workers: readonly WorkerProcess[]): Promise<WorkerUsage[]> {
  return Promise.all(workers.map((worker) => worker.tell('usage', null)))
}

function since(before: WorkerUsage, after: WorkerUsage): WorkerUsage {
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    rssMaxBytes: after.rssMaxBytes,
    statements: after.statements - before.statements,
  }
}
