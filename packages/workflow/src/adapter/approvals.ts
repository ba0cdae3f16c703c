/** Which waits to look for, and where to begin. */
export interface ApprovalsRequest {
  /** Steps that wait for a decision, or for a signal. */
  readonly kind: 'approval' | 'signal'
  readonly workflow?: string | undefined
  /** The step's name. */
  readonly step?: string | undefined
  /** The `cursor` of an earlier answer; null begins with the newest run. */
  readonly after: ApprovalPosition | null
  readonly limit: number
}

/** A position in the order of approvals: by run, newest first, then by the step's number. */
export interface ApprovalPosition {
  readonly runId: string
  /** The step's name; null is the position after all steps of the run. */
  readonly step: string | null
}

/** One page of the approvals, or signals, that runs wait for, newest run first. */
export interface FoundApprovals {
  readonly approvals: readonly ApprovalRecord[]
  /** Where the next page begins. It also passes runs that were read and wait for nothing. */
  readonly cursor: ApprovalPosition | null
  /** There may be more; ask for them at once. */
  readonly more: boolean
}

/** A step that waits for a decision, or for a signal. */
export interface ApprovalRecord {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  /** The run's key. */
  readonly key: string | null
  /** The step's name. */
  readonly step: string
  /** When it began to wait. Epoch milliseconds, store clock. */
  readonly since: number
  /** When its wait times out; null for never. */
  readonly timeoutAt: number | null
}
