import type { StoredRunStatus } from './lifecycle.ts'

/** A run whose status a call changed, with the facts that listeners receive. */
export interface ChangedRun {
  readonly runId: string
  readonly definitionId: number
  /** `parked`: a step has failed after a completed pivot, so the run goes forward still. */
  readonly status: StoredRunStatus | 'parked'
  readonly key: string | null
  readonly tags: readonly string[]
  /** From the run's creation, or its start time if that is later, to this change. Milliseconds, store clock. */
  readonly durationMs: number
  /** The run reports its ends. Omitted for false. */
  readonly reportsEnd?: true | undefined
}
