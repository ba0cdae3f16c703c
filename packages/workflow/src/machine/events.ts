import type { Answer, Call, MailIn } from './answers.ts'
import type { Line } from './records.ts'
import type { Spec } from './state.ts'

/** What happens to a run. `serial` is that of the ask which is answered. */
export type MachineEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'takeover' }
  | { readonly type: 'undoRun' | 'drop' }
  | { readonly type: 'deadline' }
  | { readonly type: 'retry' | 'resume'; readonly by?: 'parent' }
  /** `idle`: the numbers of units whose asks have called nobody, and were taken back. */
  | { readonly type: 'pause'; readonly by?: 'parent'; readonly idle?: readonly number[] }
  | { readonly type: 'setPriority'; readonly priority: number }
  | { readonly type: 'cancel'; readonly compensate?: boolean; readonly reason?: string }
  /** Name and version are those of the new definition, for whoever reads a refusal. */
  | { readonly type: 'migrate'; readonly spec: Spec; readonly name: string; readonly version: number }
  | ({ readonly unit: number } & (
      | ({ readonly type: 'done'; readonly serial: number } & Answer)
      | {
          readonly type: 'failed'
          readonly serial: number
          readonly error: unknown
          /** When it is tried again; without it, it has failed for good. */
          readonly retryAt?: number | undefined
          /** It ended because it was told to. */
          readonly interrupted?: true
          /** When the attempt began. Default: now. */
          readonly startedAt?: number
          /** Its effect is there: it is not tried again, and undone like a completed unit. */
          readonly succeeded?: true
        }
      /** Its worker is gone. `killsMax`: so many kills make it poison. */
      | { readonly type: 'lost'; readonly serial: number; readonly killsMax?: number }
      /** Its worker does not go on with it. `called`: its handler was, so that the attempt counts. */
      | { readonly type: 'released'; readonly serial: number; readonly called: boolean }
      /** It found no slot, and stands in the line of a limit; or, with `skips`, it is skipped then. */
      | { readonly type: 'lined'; readonly serial: number; readonly line: Line; readonly skips?: true }
      /** It has a slot. */
      | { readonly type: 'permit' }
      /** A suspect has a slot, or it still runs at a tick: its row is written. `before`: its handler waits for that. `within`: see {@link Unit.within}. */
      | { readonly type: 'record'; readonly serial: number; readonly before: boolean; readonly within?: true }
      /** What its transaction committed: see {@link Unit.within}. */
      | ({ readonly type: 'within'; readonly within: number } & Answer)
      | { readonly type: 'due' }
      | { readonly type: 'mail'; readonly mail: MailIn }
      | ({ readonly type: 'call' } & Call)
      | { readonly type: 'retryUndo' | 'skipUndo' }
      /** `idle`: its ask has called nobody, and was taken back. */
      | { readonly type: 'retryStep'; readonly idle?: boolean }
      /** Why its handler is known not to end. */
      | { readonly type: 'giveUp'; readonly reason: string }
      | { readonly type: 'skipStep'; readonly output?: unknown; readonly idle?: boolean }
    ))
