import type { WorkloadName } from '../workloads.ts'
import type { WakeLatencies } from './patience.ts'

/** Where a worker's runs are. The last two live in the worker's own process. */
export type Store =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'pglite'; readonly directory?: string }
  | { readonly kind: 'memory' }

export interface WorkerSetup {
  readonly store: Store
  readonly workload: WorkloadName
  /** Runs drained first in a place of their own, so that what is measured is code that has been compiled. */
  readonly warmUpRuns: number
  /** Each attempt is kept as a row of its own. */
  readonly keepsAttempts?: boolean
  /** How its connections call themselves, to be told apart. */
  readonly name?: string
}

export interface WorkerUsage {
  /** User and system time of the process so far. */
  readonly cpuMs: number
  /** The largest the process has been. */
  readonly rssMaxBytes: number
  /** Statements sent by the measured engine so far, `begin` and `commit` included; 0 where there is no connection. */
  readonly statements: number
}

export interface Latencies {
  /** From the call of `run()` until its worker knows that the run's completion is committed. */
  readonly completedMs: readonly number[]
  /** How much later `result()` answered. */
  readonly resultAfterMs: readonly number[]
}

/** What a worker process can be told: the argument and the answer of each command. */
export interface Commands {
  open: { argument: WorkerSetup; answer: null }
  /** Starts runs: `bulk` by runMany(), `single` by concurrent calls of run(). */
  startRuns: { argument: { count: number; by: 'bulk' | 'single' }; answer: { seconds: number } }
  /** Begins to work. `atMs` is when, on a clock that all processes of a machine share. */
  work: { argument: null; answer: { atMs: number } }
  /** Starts runs that wait, half of them for a time and half for a signal; answers once all do. */
  putToSleep: { argument: { count: number }; answer: null }
  /** Wakes some of them; each round others. */
  measureWakes: { argument: { times: number; round: number }; answer: WakeLatencies }
  measureLatencies: { argument: { runs: number }; answer: Latencies }
  usage: { argument: null; answer: WorkerUsage }
  close: { argument: null; answer: null }
}

export type CommandName = keyof Commands

export interface Request<Name extends CommandName = CommandName> {
  readonly id: number
  readonly name: Name
  readonly argument: Commands[Name]['argument']
}

/** What a worker process says: answers, and now and then how many runs have ended and when the last of them did. */
export type Message =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly message: string }
  | { readonly kind: 'ended'; readonly runs: number; readonly atMs: number }

/** Milliseconds on a clock that is the same in all processes of this machine. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
