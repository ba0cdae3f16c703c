import { BelayError, StoreContendedError } from '@belay/workflow/adapter'
import { codeOf } from './errors.ts'

/**
 * How long a statement waits for a row that somebody has locked while others wait with it: the other runs of its call, or the worker's next
 * statements. The engine sends what was held up again, apart from the rest.
 */
export const SHARED_LOCK_WAIT_MS = 500
export const sharedLockWait = `${SHARED_LOCK_WAIT_MS}ms`

/** How long a call of somebody who wants this one run changed waits. */
const LONE_LOCK_WAIT_MS = 5_000

/**
 * How long an operator's or a sender's statement for so many runs waits for a lock, as Postgres takes it. Each statement sets it for itself, before it locks anything:
 * of a session that an application gave, or a pooler shares out, nothing may be set for longer than a transaction.
 */
export function lockWait(members: number): string {
  return `${lockWaitMs(members)}ms`
}

/** Sets the limit; to be joined to whatever a statement locks first. The text of a CTE, `parameter` being the limit. */
export function boundedLockWait(parameter: string): string {
  return `bounded_wait as materialized (
  -- Read when a wait begins. It ends with the transaction.
  select set_config('lock_timeout', ${parameter}::text, true)
)`
}

/**
 * The same for statements that may be part of a caller's transaction, whose later statements wait as long as the caller said: what was set
 * before is put back by {@link restoredLockWait}.
 */
export function passingLockWait(parameter: string): string {
  return `previous_wait as materialized (
  select current_setting('lock_timeout') as lock_timeout
),
bounded_wait as materialized (
  -- Read when a wait begins.
  select set_config('lock_timeout', ${parameter}::text, true) from previous_wait
)`
}

/** The text of a CTE that has to be read to the end; `locking` names the CTE that locks last. */
export function restoredLockWait(locking: string): string {
  return `restored_wait as materialized (
  select set_config('lock_timeout', p.lock_timeout, true) as lock_timeout
  from previous_wait p
  cross join (select count(*) from ${locking}) as all_is_locked
)`
}

/** What a statement came to that waited too long for a lock: an error that names what it was about. Other errors stay as they are. */
export function contended(
  error: unknown,
  runIds: readonly string[],
  waitedMs = lockWaitMs(runIds.length),
): unknown {
  if (!isLockTimeout(error)) return error
  const [runId] = runIds
  const seconds = waitedMs / 1_000
  const remedy =
    'Find that transaction with pg_blocking_pids() and pg_stat_activity. Keep transactions short that call Belay or lock its rows.'
  if (runIds.length === 1) {
    const message = `Run ${runId} could not be changed: another transaction has held one of its rows for more than ${seconds} s. ${remedy}`
    return new StoreContendedError(message, { runId, cause: error })
  }
  const message = `None of ${runIds.length} runs could be changed: another transaction has held a row of one of them for more than ${seconds} s. ${remedy}`
  return new StoreContendedError(message, { cause: error })
}

/** Tells whether a statement was given up because it waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const cause = BelayError.is(error) ? error.cause : error
  return codeOf(cause) === '55P03'
}

function lockWaitMs(members: number): number {
  return members === 1 ? LONE_LOCK_WAIT_MS : SHARED_LOCK_WAIT_MS
}
