import type { AppliedMail, Mail } from './mail.ts'
import type { NewRun, NewRuns, TurnedRun } from './run-row.ts'
import type { PlainEnd, WrittenStep } from './step-row.ts'

/** What one fold changes of one run. Of a batch of them, all is written or nothing. */
export interface Member {
  readonly run: string
  readonly fence: number
  /** Null: the run has not turned. */
  readonly turned: TurnedRun | null
  readonly ends: readonly PlainEnd[]
  /** Units that are born, and those that are not plain ends. */
  readonly births: readonly WrittenStep[]
  readonly updates: readonly WrittenStep[]
  /** Numbers of units whose rows go. */
  readonly drops: readonly number[]
  readonly applied: readonly AppliedMail[]
  readonly mail: readonly Mail[]
  readonly starts: readonly ChildStart[]
  /** Keys of outcomes that no transaction may commit any more, see the verb `within`. One that is there already refuses the member. */
  readonly tombstones: readonly string[]
  /** Its rows do not say that it has begun. */
  readonly begun: boolean
  /** Its owner knows what the last one may have left behind. */
  readonly found: boolean
  /** What becomes of it: its owner keeps it; nobody owns it until that time, or until mail comes; it has ended. */
  readonly after: 'stays' | 'ends' | Release
}

export interface Release {
  /** Epoch milliseconds; Infinity: only mail wakes it. */
  readonly due: number
  /** By how many minutes it goes before others, once it is due. */
  readonly lead: number
}

/** A run that a run starts. */
export interface ChildStart extends Omit<NewRuns, 'runs'> {
  readonly run: NewRun
}

export type Committed =
  /** The worker is dead, or in another epoch. Nothing was written. */
  | { readonly result: 'behind' }
  /** These runs are not its own by their fences. Nothing was written. */
  | { readonly result: 'strange'; readonly runs: readonly string[] }
  | {
      readonly result: 'committed'
      /** The ids of the runs that were started. Of all others the key was taken. */
      readonly started: readonly string[]
      /** Who owns the runs that mail went to, for hints; null: somebody may claim them. */
      readonly notify: readonly (number | null)[]
    }
