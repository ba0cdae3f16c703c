import type { RunStatus } from '@belay/workflow/adapter'

/** What the oracle judges by: rows of the engine's views, of the application's tables, and of the world. Instants are epoch milliseconds. */
export interface Facts {
  readonly runs: readonly RunFacts[]
  readonly intents: readonly IntentFacts[]
  /** Keys of the rows that the application wrote with its runs. */
  readonly orders: readonly string[]
  readonly entries: readonly EntryFacts[]
  readonly accounts: readonly { readonly id: number; readonly cents: number }[]
  readonly calls: readonly CallFacts[]
  readonly effects: readonly EffectFacts[]
  readonly receipts: readonly ReceiptFacts[]
  readonly pauses: readonly PauseFacts[]
  /** What happened without an effect. */
  readonly sightings: readonly { readonly what: string; readonly runId: string }[]
  readonly entered: readonly EntryOfLimit[]
  readonly firings: readonly FiringFacts[]
  readonly schedules: readonly ScheduleFacts[]
  /** Rows that must not be left at rest, as sentences. */
  readonly leftovers: readonly string[]
  /** By the name of the process: when it was gone, or its lease was over. */
  readonly lapses: ReadonlyMap<string, readonly number[]>
  /** By the name of the process. */
  readonly freezes: ReadonlyMap<string, readonly Span[]>
  /** The times during which a fault could cause the loss of a worker. */
  readonly troubles: readonly Span[]
}

export interface RunFacts {
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly key: string | null
  readonly status: RunStatus
  readonly stop: string | null
  readonly createdAt: number
  readonly input: unknown
  /** The run that it was started for. */
  readonly parentId: string | null
  /** The newest value of the key `digest`. */
  readonly digest: unknown
  readonly steps: readonly StepFacts[]
}

export interface StepFacts {
  readonly name: string
  readonly status: string
  readonly undoOf: string | null
  readonly round: number
  readonly attempt: number
  readonly failures: number
  readonly losses: number
  readonly output: unknown
  readonly error: unknown
  /** When its newest forward attempt ended. */
  readonly finishedAt: number | null
}

export interface IntentFacts {
  readonly key: string
  readonly kind: string
  readonly workflow: string
  readonly state: string
  readonly runId: string | null
}

export interface EntryFacts {
  readonly runId: string
  readonly step: string
  readonly key: string
  readonly account: number
  readonly cents: number
}

export interface CallFacts {
  readonly id: string
  readonly key: string
  readonly runId: string
  readonly step: string
  readonly undo: boolean
  readonly attempt: number
  readonly worker: string
  readonly beganAt: number
  /** When the handler ended or its attempt was taken from it; null if its process went before. */
  readonly endedAt: number | null
}

/** An attempt that entered a rate, and its instant by the clock of the database. */
export interface EntryOfLimit {
  readonly limit: string
  readonly key: string
  readonly runId: string
  readonly step: number
  readonly fence: number
  readonly at: number
}

/** A firing of a schedule that the store still has. */
export interface FiringFacts {
  readonly schedule: string
  /** `schedule:<name>:<instant>`. */
  readonly key: string
  readonly cause: string
  readonly status: string
  readonly runId: string | null
}

export interface ScheduleFacts {
  readonly name: string
  /** The first and the last time that must have fired. */
  readonly from: number
  readonly to: number
}

export interface EffectFacts {
  readonly key: string
  readonly runId: string
  readonly step: string
  readonly undo: boolean
  readonly callId: string
  readonly at: number
}

export interface ReceiptFacts {
  readonly runId: string
  readonly step: string
  readonly nonce: string
  readonly result: string
}

export interface PauseFacts {
  readonly runId: string
  readonly pausedAt: number
  readonly resumedAt: number | null
}

export interface Span {
  readonly from: number
  readonly to: number
}
