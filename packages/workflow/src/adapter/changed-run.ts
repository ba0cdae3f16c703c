import type { StoredRunStatus } from './lifecycle.ts'

/** A run whose status a call changed, with what listeners are told of it. */
export interface ChangedRun {
  readonly runId: string
  readonly definitionId: number
  readonly status: StoredRunStatus
  readonly key: string | null
  readonly tags: readonly string[]
  /** From its creation, or its start time if that is later, to this change; milliseconds, store clock. */
  readonly durationMs: number
}
