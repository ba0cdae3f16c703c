/**
 * Where a run stands.
 *
 * `scheduled` before its start time; `running`; `waiting` while every live step waits for a timer or a signal; `paused` by an operator, on
 * its way forward or back: nothing of it begins then. A run that fails, or whose deadline passes, while it is paused stays paused: its undo
 * begins when it is resumed;
 * `compensating` from the moment it fails or is cancelled (first it drains, then it undoes); then one of the five ends.
 * `compensation_failed` is an end only until an operator acts: undos of independent branches still go on in it. An operator may also send a
 * `failed`, `compensated` or `cancelled` run forward again.
 *
 * `scheduled` and `waiting` are never stored: they are what a `running` run is read as, so that nobody has to notice when they end.
 */
export type RunStatus =
  | 'scheduled'
  | 'running'
  | 'waiting'
  | 'paused'
  | 'compensating'
  | 'completed'
  | 'failed'
  | 'compensated'
  | 'compensation_failed'
  | 'cancelled'

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

/** Every allowed change of a run's status. The single source: adapters repeat it as guards, tests assert it. */
export const RUN_TRANSITIONS: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  scheduled: ['running', 'paused', 'compensating'],
  running: ['waiting', 'paused', 'completed', 'compensating'],
  waiting: ['running', 'paused', 'completed', 'compensating'],
  // Also what had been stopped: to where its undo stands, or to its end when what was in flight was all that was left of the undo.
  paused: [
    'scheduled',
    'running',
    'waiting',
    'completed',
    'compensating',
    'compensation_failed',
    'compensated',
    'cancelled',
  ],
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

const ENDS: ReadonlySet<RunStatus> = new Set(['completed', 'failed', 'compensated', 'cancelled'])

/** Tells whether a run is at its end: nothing changes it any more unless an operator sends it forward again. */
export function isTerminal(status: RunStatus): boolean {
  return ENDS.has(status)
}
