import type { HeartbeatRecord, HeartbeatRequest } from './heartbeats.ts'
import type { JsonText, NewItem } from './records.ts'

export interface PayloadRequest {
  readonly runId: string
  /** Steps whose output and error to read. */
  readonly steps: readonly number[]
  /** Whether to read the steps' branches too: only steps that may be skipped, and their dependents, have a use for them. */
  readonly branches?: boolean | undefined
  /** Details of heartbeats to read. */
  readonly heartbeats?: readonly HeartbeatRequest[] | undefined
}

export interface RunPayloads {
  readonly runId: string
  readonly input: JsonText
  /** JSON text of a `RunCause`; null until the run stops. */
  readonly cause: JsonText
  readonly steps: readonly StepPayloads[]
  /** Those of the requested heartbeats that are stored. There if any were requested. */
  readonly heartbeats?: readonly HeartbeatRecord[] | undefined
  /** The store's clock at the time of the read, in epoch milliseconds. */
  readonly now: number
}

/** Instants and `succeeded` are as in `StepRecord`. `branch` is there if any request of the call asked for branches. */
export interface StepPayloads {
  readonly step: number
  readonly branch?: JsonText | undefined
  readonly output: JsonText
  readonly error: JsonText
  readonly availableAt: number | null
  readonly waitingSince: number | null
  readonly signalledAt: number | null
  readonly failingSince: number | null
  readonly succeeded: boolean
  /** Only of an item of a map. */
  readonly item?: NewItem | undefined
}
