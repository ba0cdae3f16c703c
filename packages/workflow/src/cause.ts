/** Why a run stopped going forward. */
export type RunCause =
  | {
      readonly type: 'step_failed'
      readonly step: string
      /** Tries made, as the handler counted them. */
      readonly attempt: number
      readonly error: SerialisedError
    }
  | { readonly type: 'cancelled'; readonly reason: string | undefined }
  /** The run had not ended by then: an ISO 8601 text. */
  | { readonly type: 'deadline'; readonly deadlineAt: string }

/** An error as it is stored: no stack, and causes up to a depth of 5. */
export interface SerialisedError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  readonly cause?: SerialisedError | undefined
}
