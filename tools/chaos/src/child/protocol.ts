import type { Version } from '../load/workflows.ts'

/** The setup of every child, as JSON in the environment variable CHAOS_SETUP. */
export interface ChildSetup {
  /** Unique for each process: its backends have it as application_name. */
  readonly name: string
  /** The engine's database, through this child's proxy, under a host name that only the child knows. */
  readonly url: string
  readonly worldUrl: string
  readonly seed: number
  readonly leaseMs: number
  readonly tickMs: number
}

export interface WorkerSetup extends ChildSetup {
  readonly version: Version
  /** Whose connections it uses: its own, or an application's Pool. */
  readonly pool: 'own' | 'application'
}

export interface TriggerSetup extends ChildSetup {
  readonly startsPerSecond: number
  /** Begins with more `{ tx }` starts at once than its Pool has connections. */
  readonly burst: boolean
}

/** What the supervisor tells a child, one JSON line each. */
export type Command =
  /** Whether the database's name is found from now on. */
  | { readonly type: 'name'; readonly found: boolean }
  /** Holds every connection of the application's Pool for this time. */
  | { readonly type: 'exhaust'; readonly ms: number }
  | { readonly type: 'leave' }
  /** To the trigger: carry out an intent that the world already has. */
  | { readonly type: 'start'; readonly key: string }
  /** To the trigger: how many runs are open, which versions may be started, and whether to stop starting. */
  | { readonly type: 'pace'; readonly open: number; readonly version: Version; readonly finish: boolean }

/** What a worker has done since it began. */
export interface Counts {
  readonly settled: number
  /** Results that came too late. */
  readonly discarded: number
  /** How often it was presumed dead. */
  readonly leasesLost: number
}

/** What a child says, one JSON line each. */
export type Message =
  | { readonly type: 'ready' }
  /** From a worker, at intervals: what it has settled so far, and the handlers that are running. */
  | ({ readonly type: 'pulse'; readonly active: readonly string[] } & Counts)
  /** A call of the engine has not returned for a long time. */
  | { readonly type: 'hangs'; readonly call: string; readonly forMs: number }
  /** Something that the engine reported as unexpected, or an unexpected error of a call. */
  | { readonly type: 'error'; readonly during: string; readonly message: string }
  | { readonly type: 'started'; readonly runs: number; readonly failures: Readonly<Record<string, number>> }

/** The host name in children's urls. */
export const DATABASE_HOST = 'database.belay.test'
/** A worker's limits on its connections: for the engine's statements, and for transactional steps. */
export const CONNECTIONS_MAX = 4
export const TRANSACTIONS_MAX = 3
/** Connections of an application's Pool. */
export const POOL_MAX = 8
export const QUERY_TIMEOUT_MS = 3_000
