import type { SerialisedError } from './definition/step.ts'

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
