/** Runs that go forward, unless they were stopped. A paused run may have been: its `stop` tells. */
export const FORWARD_STATUSES = ['running', 'paused'] as const

/** Runs that have not ended: they may hold leased steps. */
export const LIVE_STATUSES = [...FORWARD_STATUSES, 'compensating', 'compensation_failed'] as const

/** Runs at their end: nothing changes them unless an operator sends them forward again, and nothing but them is ever pruned. */
export const ENDS = ['completed', 'failed', 'compensated', 'cancelled'] as const

/** What a run that is stored as `running` is shown as. */
export const SHOWN_OF_RUNNING = ['scheduled', 'running', 'waiting'] as const

export type LiveStatus = (typeof LIVE_STATUSES)[number]

/** How a run may have come to its end. */
export type EndStatus = (typeof ENDS)[number]

/**
 * Where a run stands, as a store holds it.
 *
 * `running`; `paused` by an operator, on its way forward or back: nothing of it begins then. A run that fails, or whose deadline passes, while
 * it is paused stays paused: its undo begins when it is resumed;
 * `compensating` from the moment it fails or is cancelled (first it drains, then it undoes); then one of the five ends.
 * `compensation_failed` is an end only until an operator acts: undos of independent branches still go on in it. An operator may also send a
 * `failed`, `compensated` or `cancelled` run forward again.
 */
export type StoredRunStatus = LiveStatus | EndStatus

/**
 * Where a run stands, as people see it. A run that is stored as `running` is shown as `scheduled` before its start time, and as `waiting` while
 * every live step waits for a timer or a signal. No store holds these two, so nobody has to notice when they end.
 */
export type RunStatus = StoredRunStatus | (typeof SHOWN_OF_RUNNING)[number]

/** Every status that a run may be shown with. */
export const RUN_STATUSES: readonly RunStatus[] = [
  ...new Set<RunStatus>([...SHOWN_OF_RUNNING, ...LIVE_STATUSES, ...ENDS]),
]

/**
 * Where a step of a run stands. `pending` has open dependencies; `ready` may be claimed from its available time on; `running` is leased.
 * In a saga `compensating` covers the whole undo: waiting for later undos, claimable, and leased.
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
  // Also what had been stopped: to where its undo stands, or to its end when what was in flight was all that was left of the undo.
  paused: ['running', 'completed', 'compensating', 'compensation_failed', 'compensated', 'cancelled'],
  compensating: ['paused', 'failed', 'compensated', 'cancelled', 'compensation_failed'],
  compensation_failed: ['paused', 'compensating', 'compensated', 'cancelled'],
  completed: [],
  // Completed at once when all that had failed is skipped.
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
  // Sent on their way again when they build on a step that was undone.
  completed: ['compensating', 'pending', 'ready'],
  failed: ['compensating', 'pending', 'ready', 'skipped'],
  skipped: ['compensating', 'pending', 'ready'],
  cancelled: ['compensating', 'pending', 'ready'],
  compensating: ['compensated', 'compensation_failed', 'completed', 'failed', 'skipped', 'cancelled'],
  compensated: ['pending', 'ready', 'skipped'],
  compensation_failed: ['compensating', 'compensated'],
}

/** Tells whether a run is at its end. */
export function isTerminal(status: RunStatus): status is EndStatus {
  return ENDED.has(status)
}

const ENDED: ReadonlySet<RunStatus> = new Set(ENDS)

/** The status that a store holds of a run that is shown with this one. */
export function storedStatus(shown: RunStatus): StoredRunStatus {
  return shown === 'scheduled' || shown === 'waiting' ? 'running' : shown
}
