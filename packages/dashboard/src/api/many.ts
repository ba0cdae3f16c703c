import type { ActionRequest, RunLink } from '../api.ts'

/**
 * Many runs are repaired in two steps, like the command line's bulk verbs: a dry run finds which runs an action would change, and which not and why; then
 * exactly those runs are changed. Both run in the server, so that a reload loses nothing and a colleague can open the same page.
 *
 * | route | answer |
 * |---|---|
 * | `GET repairs` | {@link RepairsPage}: those of this process, newest first |
 * | `POST repairs` | {@link Repair}, whose dry run has begun; the body is {@link RepairRequest} |
 * | `GET repairs/:id` | {@link Repair} |
 * | `POST repairs/:id/actions` | {@link Repair}; the body is {@link RepairActionRequest} |
 */
export type ManyVerb = Extract<
  ActionRequest['verb'],
  'cancel' | 'pause' | 'resume' | 'retry' | 'retryCompensation' | 'skipCompensation' | 'setPriority'
>

/** One of `query`, `all`, `runs` and `insteadIn`. */
export interface RepairRequest {
  readonly verb: ManyVerb | 'move'
  /** The query of a page of Runs, without paging. An empty one is refused: all runs are asked for by `all`. */
  readonly query?: string
  readonly all?: true
  /** Up to 1,000 ids. */
  readonly runs?: readonly string[]
  /** The id of another repair: the runs that its refusals name instead. In an answer they stand in `runs`. */
  readonly insteadIn?: string
  /** For `retryCompensation` and `skipCompensation`. */
  readonly step?: string
  /** For `setPriority`, 0 to 1,000. */
  readonly priority?: number
  /** For `move`: the version to which runs of the query's one workflow move. */
  readonly version?: number
}

export interface RepairActionRequest {
  /** `begin` changes the runs that the dry run found; `stop` ends a dry run, or the change after the run that is being changed. */
  readonly action: 'begin' | 'stop'
  /** Required to begin: the history of each run keeps it. */
  readonly reason?: string
}

/**
 * `counting`: the dry run is under way. `counted`: it has ended, and nothing has been changed. `working`: runs are being changed. `done`. `stopped`: by a
 * person. `failed`: by an error, which `sentence` tells; what was changed stays.
 */
export type RepairState = 'counting' | 'counted' | 'working' | 'done' | 'stopped' | 'failed'

export interface Repair {
  readonly id: string
  readonly asked: RepairRequest
  readonly state: RepairState
  /** Who asked for the dry run, and when. */
  readonly by: string
  readonly at: number
  /** Who began the change, why and when. */
  readonly begun?: { readonly by: string; readonly reason: string; readonly at: number } | undefined
  readonly endedAt?: number | undefined
  /** What it comes to, or how it ended. */
  readonly sentence: string
  /** Of the dry run as far as it is. */
  readonly found: Tally
  /** Of the change as far as it is: of `found.changed` runs. */
  readonly done?: Tally | undefined
  /** Runs that the dry run would change, or that were changed: the first 20, as they are now. */
  readonly runs: readonly RunLink[]
  /** By reason: of the dry run, then also of the change once it has ended. The first 20. */
  readonly refusals: readonly RepairRefusal[]
  /** How many runs these name to do it to instead. */
  readonly instead: number
  /** More runs match than the 10,000 newest, which are taken at once. */
  readonly more: boolean
  /** Others that are being worked on and share runs with this one. */
  readonly others: readonly { readonly id: string; readonly sentence: string }[]
  /** This viewer lacks the capability of its verb. */
  readonly denied: boolean
}

export interface Tally {
  readonly matched: number
  readonly changed: number
  readonly refused: number
  /** Ids that name no run, or none any more. Zero until the end. */
  readonly unknown: number
}

export interface RepairRefusal {
  readonly why: string
  readonly count: number
  /** The first 5. */
  readonly runs: readonly RunLink[]
  /** Runs to do it to instead, like parents: the first 5. */
  readonly instead: readonly RunLink[]
}

export interface RepairsPage {
  readonly repairs: readonly Pick<
    Repair,
    'id' | 'asked' | 'state' | 'by' | 'at' | 'begun' | 'sentence' | 'found' | 'done'
  >[]
}
