/**
 * A run as it is drawn: plain data, the same for a server that sends it, a browser that draws it, and a test. All instants are epoch milliseconds of the
 * store's clock. It has no payloads; errors are absent for viewers who may not read payloads.
 */
export interface ViewRun {
  readonly id: string
  readonly workflow: string
  readonly version: number
  readonly key?: string | undefined
  readonly status: RunStatus
  readonly createdAt: number
  /** When it may begin, if it has a start time. */
  readonly startAt?: number | undefined
  readonly finishedAt?: number | undefined
  /** When this was read: `now` of a run that has not ended. */
  readonly readAt: number
  readonly cause?: ViewCause | undefined
  /** When it stopped going forward: the failure, the cancellation, the deadline. */
  readonly stoppedAt?: number | undefined
  /** When its last running handler had ended after that, and the undo began. */
  readonly drainedAt?: number | undefined
  /** In topological order; a map or a loop is one step. */
  readonly steps: readonly ViewStep[]
  /** The number of the newest round, from 1. A round begins when an operator sends a run forward that was undone. */
  readonly rounds: number
}

/** As the engine shows it. */
export type RunStatus =
  | 'scheduled'
  | 'running'
  | 'waiting'
  | 'parked'
  | 'paused'
  | 'compensating'
  | 'compensation_failed'
  | 'completed'
  | 'failed'
  | 'compensated'
  | 'cancelled'

export interface ViewCause {
  readonly type: 'step_failed' | 'cancelled' | 'deadline' | 'limit_reached'
  readonly step?: string | undefined
  /** Name and message of the error, the reason of a cancellation. */
  readonly text?: string | undefined
}

export interface ViewStep {
  readonly name: string
  readonly kind: 'work' | 'choose' | 'map' | 'repeat' | 'sleep' | 'signal' | 'approval' | 'poll' | 'child'
  readonly dependsOn: readonly string[]
  /** Whether its undo is called: never, as it has none; once it has completed; or also if it has only started. */
  readonly compensate: 'never' | 'completed' | 'started'
  readonly pivot: boolean
  readonly irreversible: boolean
  readonly status: StepStatus
  readonly round: number
  /** Begun forward attempts of this round, and how many of them may fail. */
  readonly attempts: number
  readonly attemptsMax?: number | undefined
  readonly failures: number
  readonly losses: number
  /**
   * The attempts that are known one by one, oldest first, of all rounds and both directions. Without kept attempts (`attempts: 'keep'`) only the newest of
   * each direction is known: `attempts` says how many there were.
   */
  readonly known: readonly ViewAttempt[]
  readonly waitingSince?: number | undefined
  readonly signalledAt?: number | undefined
  /** When it is due, for a retry or a timer. */
  readonly dueAt?: number | undefined
  readonly workerId?: string | undefined
  /** Name and message of its error, as long as nothing has repaired it; of a map, that of an item which fails. */
  readonly error?: string | undefined
  /** Why it was skipped, in words. */
  readonly skipped?: string | undefined
  /** Its child completed, and keeps its effects. */
  readonly kept: boolean
  readonly undo?: ViewUndo | undefined
  /** Of a map or a loop. */
  readonly items?: ViewItems | undefined
  /** The newest run that it started. */
  readonly childId?: string | undefined
}

export type StepStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'compensating'
  | 'compensated'
  | 'compensation_failed'

export interface ViewAttempt {
  readonly direction: 'forward' | 'undo'
  readonly round: number
  /** From 1 within a round and direction. */
  readonly attempt: number
  readonly startAt: number
  /** Undefined while it goes on. */
  readonly endAt?: number | undefined
  /** How it ended; `running` if it has not. `waiting`: a wait, from its begin to its signal, its timer, or now. */
  readonly ended:
    | 'running'
    | 'completed'
    | 'retrying'
    | 'failed'
    | 'lost'
    | 'released'
    | 'given_up'
    | 'waiting'
    | 'skipped'
  readonly error?: string | undefined
}

export interface ViewUndo {
  readonly attempts: number
  readonly failures: number
  readonly losses: number
  readonly error?: string | undefined
  /** An operator marked it as undone. */
  readonly skipped: boolean
  readonly dueAt?: number | undefined
}

export interface ViewItems {
  readonly total: number
  readonly ended: number
  readonly statuses: Readonly<Partial<Record<StepStatus, number>>>
  /** Whether the step itself failed: its status may tell of its undo instead, and not every item that fails fails its map. */
  readonly failed: boolean
  /** At most some hundreds of them, for bars of their own. */
  readonly some: readonly ViewItem[]
}

export interface ViewItem {
  readonly key: string
  readonly status: StepStatus
  readonly startAt?: number | undefined
  readonly endAt?: number | undefined
  readonly undoStartAt?: number | undefined
  readonly undoEndAt?: number | undefined
}
