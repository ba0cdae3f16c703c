import { BelayError, StoreContendedError } from '@belay/workflow/adapter'
import { codeOf } from './errors.ts'

/**
 * How long a statement waits for a locked row while others wait with it: the other runs of its call, or the worker's next statements. The engine
 * sends the held-up part again, apart from the rest.
 */
export const SHARED_LOCK_WAIT_MS = 500
export const sharedLockWait = `${SHARED_LOCK_WAIT_MS}ms`

/** How long a call that changes a single run waits. */
const LONE_LOCK_WAIT_MS = 5_000

/**
 * The `lock_timeout`, as Postgres takes it, of an operator's or sender's statement for this many runs. Each statement sets it for itself, before it
 * locks anything: in a session from an application or a pooler, no setting may outlast the transaction.
 */
export function lockWait(members: number): string {
  return `${lockWaitMs(members)}ms`
}

/** The text of a CTE that sets the limit. Join it to the first thing that the statement locks. `parameter` is the limit. */
export function boundedLockWait(parameter: string): string {
  return `bounded_wait as materialized (
  -- Postgres reads it when a wait begins. It ends with the transaction.
  select set_config('lock_timeout', ${parameter}::text, true)
)`
}

/**
 * The same for statements that may be part of a caller's transaction, whose later statements keep the caller's limit: {@link restoredLockWait}
 * restores it.
 */
export function passingLockWait(parameter: string): string {
  return `previous_wait as materialized (
  select current_setting('lock_timeout') as lock_timeout
),
bounded_wait as materialized (
  -- Postgres reads it when a wait begins.
  select set_config('lock_timeout', ${parameter}::text, true) from previous_wait
)`
}

/** The text of a CTE that restores the previous limit. The statement must read it to the end. `locking` names the CTE that locks last. */
export function restoredLockWait(locking: string): string {
  return `restored_wait as materialized (
  select set_config('lock_timeout', p.lock_timeout, true) as lock_timeout
  from previous_wait p
  cross join (select count(*) from ${locking}) as all_is_locked
)`
}

/** The error for a statement that waited too long for a lock; it names the runs. Other errors are returned unchanged. */
export function contended(
  error: unknown,
  runIds: readonly string[],
  waitedMs = lockWaitMs(runIds.length),
): unknown {
  if (!isLockTimeout(error)) return error
  const [runId] = runIds
  const seconds = waitedMs / 1_000
  const remedy =
    'Find that transaction with pg_blocking_pids() and pg_stat_activity. Keep transactions that call Belay or lock its rows short.'
  if (runIds.length === 1) {
    const message = `Run ${runId} could not be changed: another transaction has held one of its rows for more than ${seconds} s.`
    return new StoreContendedError(message, { remedy, runId, cause: error })
  }
  const message = `None of ${runIds.length} runs could be changed: another transaction has held a row of one of them for more than ${seconds} s.`
  return new StoreContendedError(message, { remedy, cause: error })
}

/** Whether a statement was aborted because it waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const cause = BelayError.is(error) ? error.cause : error
  return codeOf(cause) === '55P03'
}

function lockWaitMs(members: number): number {
  return members === 1 ? LONE_LOCK_WAIT_MS : SHARED_LOCK_WAIT_MS
}
