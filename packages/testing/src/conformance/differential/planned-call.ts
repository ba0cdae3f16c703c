import type { CollectPolicy } from '@belay/workflow/adapter'

/** A call that is collected. */
export interface PlannedCall {
  readonly runId: string
  readonly callId: string
  readonly graph: number
  readonly collectKey: string
  readonly policy: CollectPolicy
  readonly input: string | null
  readonly tags: readonly string[]
  readonly deadlineMs: number | undefined
}

export type CollectCommand = {
  readonly do: 'collect'
  readonly calls: readonly PlannedCall[]
  /** `alone`, or in a transaction that commits or is rolled back. */
  readonly within: 'alone' | 'commits' | 'rolls back'
}
