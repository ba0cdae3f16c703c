import type { WorkloadName } from '../workloads.ts'
import type { ResultLatencies } from './awaiting.ts'
import type { WakeLatencies } from './patience.ts'
import type { SchedulesToPut } from './scheduling.ts'
import type { Telemetry } from './telemetry.ts'
import type { Turn } from './turns.ts'

/** Where a worker's runs are. The last two are in the worker's own process. */
export type Store =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'pglite'; readonly directory?: string }
  | { readonly kind: 'memory' }

export interface WorkerSetup {
  readonly store: Store
  readonly workload: WorkloadName
  /** Runs drained first in a separate store, so that the measured code is compiled. */
  readonly warmUpRuns: number
  /** `default`: nothing set but the adapter and the workflows. Default `'tuned'`: the workload's concurrency. */
  readonly settings?: 'default' | 'tuned'
  /** Each attempt is kept as a row. */
  readonly keepsAttempts?: boolean
  /** One hook surrounds each handler. */
  readonly isSurrounded?: boolean
  readonly telemetry?: Telemetry
  /** The application name of its connections, to identify them. */
  readonly name?: string
}

export interface WorkerUsage {
  /** User and system time of the process so far, in milliseconds. */
  readonly cpuMs: number
  /** The largest resident size of the process so far, in bytes. */
  readonly rssMaxBytes: number
  /** Statements that the measured engine has sent so far, including `begin` and `commit`; 0 if there is no connection. */
  readonly statements: number
}

export interface Latencies {
  /** From the call of `run()` until its worker knows that the run's completion is committed. */
  readonly completedMs: readonly number[]
  /** How much later `result()` resolved. */
  readonly resultAfterMs: readonly number[]
}

/** The commands for a worker process: the argument and the answer of each. */
export interface Commands {
  open: { argument: WorkerSetup; answer: null }
  /** Starts runs: `bulk` by runMany(), `single` by concurrent calls of run(). `awaits`: begins to await each of them, in bulk only. */
  startRuns: {
    argument: { count: number; by: 'bulk' | 'single'; awaits?: boolean }
    answer: { seconds: number }
  }
  /** Puts schedules of the workload's workflow. */
  putSchedules: { argument: SchedulesToPut; answer: { seconds: number } }
  /** Begins to work. `atMs` is the time of that, on a clock that all processes of a machine share. */
  work: { argument: null; answer: { atMs: number } }
  /** Starts runs that wait, half of them for a time and half for a signal. Answers once all wait. */
  putToSleep: { argument: { count: number }; answer: null }
  /** Wakes some of them; other ones each round. */
  measureWakes: { argument: { times: number; round: number }; answer: WakeLatencies }
  /** Starts runs and awaits each, so many at once. */
  runAndAwait: { argument: { runs: number; inFlight: number }; answer: { seconds: number } }
  /** Starts and awaits runs one after another. The process needs no worker. */
  measureResults: { argument: { runs: number }; answer: ResultLatencies }
  measureLatencies: { argument: { runs: number }; answer: Latencies }
  /** The turns that this process has taken, of the workload of that name. */
  turns: { argument: null; answer: readonly Turn[] }
  usage: { argument: null; answer: WorkerUsage }
  close: { argument: null; answer: null }
}

export type CommandName = keyof Commands

export interface Request<Name extends CommandName = CommandName> {
  readonly id: number
  readonly name: Name
  readonly argument: Commands[Name]['argument']
}

/** What a worker process sends: answers and, now and then, how many runs have ended and when the last one did. */
export type Message =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  | { readonly kind: 'ended'; readonly runs: number; readonly atMs: number }
