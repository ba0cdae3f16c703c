/** Runs that go forward. A paused run may have been stopped: see its `stop`. */
export const FORWARD_STATUSES = ['running', 'paused'] as const

/** Runs that have not ended. They may hold leased steps. */
export const LIVE_STATUSES = [...FORWARD_STATUSES, 'compensating', 'compensation_failed'] as const

/** Runs that have ended. Only an operator who sends them forward again changes them, and only they are ever pruned. */
export const ENDS = ['completed', 'failed', 'compensated', 'cancelled'] as const

/** The statuses with which a stored `running` is shown. */
export const SHOWN_OF_RUNNING = ['scheduled', 'running', 'waiting', 'parked'] as const

export type LiveStatus = (typeof LIVE_STATUSES)[number]

/** A final status of a run. */
export type EndStatus = (typeof ENDS)[number]

/**
 * A run's status as a store holds it.
 *
 * `paused`: an operator paused the run, going forward or undoing; nothing in it begins. If a paused run fails or its deadline passes, it stays
 * paused, and its undo begins when it is resumed. `compensating`: from the moment the run fails or is cancelled; it first drains, then undoes.
 * `compensation_failed` is final only until an operator acts, and undos of independent branches continue in it. An operator may also send a `failed`,
 * `compensated` or `cancelled` run forward again.
 */
export type StoredRunStatus = LiveStatus | EndStatus

/**
 * A run's status as people see it. A stored `running` is shown as `scheduled` before the run's start time, and as `waiting` while every live step
 * waits for a timer or a signal. It is shown as `parked` while a step that failed after a completed pivot waits for an operator; its other steps go on.
 * These three are never stored, so nobody has to write when they end.
 */
export type RunStatus = StoredRunStatus | (typeof SHOWN_OF_RUNNING)[number]

/** Every status with which a run may be shown. */
export const RUN_STATUSES: readonly RunStatus[] = [
  ...new Set<RunStatus>([...SHOWN_OF_RUNNING, ...LIVE_STATUSES, ...ENDS]),
]

/**
 * A step's status. `pending` has open dependencies; `ready` may be claimed from its available time on; `running` is leased. `compensating` covers the
 * whole undo of the step: while it waits for other undos, while it is claimable, and while it is leased.
 */
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

/** Every allowed change of a run's stored status. The single source: adapters repeat it as guards, tests assert it. */
export const RUN_TRANSITIONS: Readonly<Record<StoredRunStatus, readonly StoredRunStatus[]>> = {
  running: ['paused', 'completed', 'compensating'],
  // A stopped run resumes to the status of its undo. It ends while paused if its last open undo ends.
  paused: ['running', 'completed', 'compensating', 'compensation_failed', 'compensated', 'cancelled'],
  compensating: ['paused', 'failed', 'compensated', 'cancelled', 'compensation_failed'],
  compensation_failed: ['paused', 'compensating', 'compensated', 'cancelled'],
  // A child, if its parent is undone.
  completed: ['compensating'],
  // `completed` directly, if every failed step is skipped.
  failed: ['running', 'completed'],
  compensated: ['running', 'completed'],
  cancelled: ['running', 'completed'],
}

/** Every allowed change of a step's status. `compensating → completed | failed | skipped | cancelled` is a relay: see {@link UndoPlan}. */
export const STEP_TRANSITIONS: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: ['ready', 'running', 'waiting', 'skipped', 'cancelled'],
  ready: ['running', 'waiting', 'skipped', 'cancelled'],
  running: ['ready', 'waiting', 'completed', 'failed', 'skipped', 'cancelled'],
  waiting: ['ready', 'running', 'completed', 'failed', 'skipped', 'cancelled'],
  // These run again if they build on a step that was undone.
  completed: ['compensating', 'pending', 'ready'],
  failed: ['compensating', 'pending', 'ready', 'skipped'],
  skipped: ['compensating', 'pending', 'ready'],
  cancelled: ['compensating', 'pending', 'ready'],
  compensating: ['compensated', 'compensation_failed', 'completed', 'failed', 'skipped', 'cancelled'],
  compensated: ['pending', 'ready', 'skipped'],
  compensation_failed: ['compensating', 'compensated'],
}

/** Whether a run has ended. */
export function isTerminal(status: RunStatus): status is EndStatus {
  return ENDED.has(status)
}

const ENDED: ReadonlySet<RunStatus> = new Set(ENDS)

const SHOWN: ReadonlySet<RunStatus> = new Set(SHOWN_OF_RUNNING)

/** The stored status of a run that is shown with this status. */
export function storedStatus(shown: RunStatus): StoredRunStatus {
  return SHOWN.has(shown) ? 'running' : (shown as StoredRunStatus)
}
