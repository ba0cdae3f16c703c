/** Which approvals are looked for, and from where on. */
export interface ApprovalsRequest {
  readonly workflow?: string | undefined
  /** The step's name. */
  readonly step?: string | undefined
  /** Where an earlier answer ended; null begins with the newest run. */
  readonly after: ApprovalPosition | null
  readonly limit: number
}

/** A place in the order of approvals: by run, the newest first, then by the step's number. */
export interface ApprovalPosition {
  readonly runId: string
  /** The step's name; null stands behind all steps of the run. */
  readonly step: string | null
}

/** One part of a walk over the runs that may wait for an approval, the newest first. */
export interface FoundApprovals {
  readonly approvals: readonly ApprovalRecord[]
  /** Where to go on. Also past runs that were looked at and wait for none. */
  readonly cursor: ApprovalPosition | null
  /** There may be more at once. */
  readonly more: boolean
}

/** A step that waits for somebody's decision. */
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
