import type { HeartbeatRecord, HeartbeatRequest } from './heartbeats.ts'
import type { StepStatus } from './lifecycle.ts'
import type { JsonText, NewItem } from './records.ts'

export interface PayloadRequest {
  readonly runId: string
  /** Steps whose output and error to read. */
  readonly steps: readonly number[]
  /** Whether to read the steps' `branch` and `failed` too: only dependents of steps that may be skipped, or may fail and continue, use them. */
  readonly branches?: boolean | undefined
  /** Loops, each by its `repeat`, whose last round is to be read too: the one with the highest number. */
  readonly lastRoundsOf?: readonly number[] | undefined
  /** Maps, each by the step that decides its items, whose items' outputs are to be read together; see `outputsOf` of the answer. */
  readonly outputsOf?: readonly number[] | undefined
  /** Details of heartbeats to read. */
  readonly heartbeats?: readonly HeartbeatRequest[] | undefined
}

export interface RunPayloads {
  readonly runId: string
  readonly input: JsonText
  /** JSON text of a `RunCause`; null until the run stops. */
  readonly cause: JsonText
  readonly steps: readonly StepPayloads[]
  /**
   * For each map of the request's `outputsOf`, in that order, the JSON text of an array: the outputs of its items, by index; `null` for one without.
   * There if any were requested.
   */
  readonly outputsOf?: readonly { readonly map: number; readonly outputs: string }[] | undefined
  /** Those of the requested heartbeats that are stored. There if any were requested. */
  readonly heartbeats?: readonly HeartbeatRecord[] | undefined
  /** The store's clock at the time of the read, in epoch milliseconds. */
  readonly now: number
}

/** Instants and `succeeded` are as in `StepRecord`. `branch` and `failed` are there if any request of the call asked for branches. */
export interface StepPayloads {
  readonly step: number
  readonly branch?: JsonText | undefined
  /** The step failed for good in this round, also if that has been undone. `error` says why. Of other steps, `error` is that of an earlier attempt. */
  readonly failed?: boolean | undefined
  /** The status that the step has, or had before its undo began; and whether its handler may have begun. As `branch`, only if asked for. */
  readonly undoneStatus?: StepStatus | undefined
  readonly started?: boolean | undefined
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
