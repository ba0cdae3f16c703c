import {
  BelayError,
  type Isolation,
  type Settlement,
  type StepTransaction,
  type SubmittedWork,
  type Transacted,
  type TransactRequest,
} from '@belay/workflow/adapter'
import { codeOf, isConflict, isInFailedTransaction, isUnavailable, refusalOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { finish } from '../settle/finish-attempts.ts'
import { repeat } from '../settle/repeat-rounds.ts'
import { publishWithin } from '../values/publish-values.ts'
import type { FailedStore } from './handler-guard.ts'
import { putBack, type StepSession, takeOver } from './step-session.ts'
import { storeFailureOf } from './store-failure.ts'

/** A transaction that was begun for a step. */
export interface OpenTransaction {
  /** Belay's statements in it, none of them prepared by name. */
  readonly connection: Connection
  /** The same, prepared by name if that is known to work in a session with these prepared statements. */
  named(prepared: readonly string[]): Connection
  /** The session before the handler got it. */
  readonly session: StepSession
  /** What the handler gets. */
  readonly tx: StepTransaction
  /** A setting in the session that lasts as long as the transaction. */
  readonly mark: string
  /** How long it may be idle while the handler has it, in milliseconds; null for no limit. */
  readonly idleTimeoutMs: number | null
  /** How long a statement of the settlement may take, in milliseconds; null for no limit. */
  readonly settleTimeoutMs: number | null
  /** The failure of the store that ended the handler's work, which threw this; null if the handler failed by itself. */
  storeFailure(thrown?: unknown): FailedStore | null
  /** Takes the transaction from the handler. Returns the forbidden action that the handler tried, if any. Idempotent. */
  close(): BelayError | null
}

/** How the transaction ends: committed with a settlement, or rolled back with a result. */
export type Verdict =
  | { readonly commit: Settlement }
  | { readonly commit?: undefined; readonly rollBack: Transacted }

/** The statements that begin such a transaction, as one text. */
export function beginning(
  { mark, idleTimeoutMs }: Pick<OpenTransaction, 'mark' | 'idleTimeoutMs'>,
  isolation: Isolation,
): string {
  return [
    // Whatever the session's default is.
    `set transaction isolation level ${ISOLATIONS[isolation]}, read write`,
    // A process that is stopped or cut off must not keep its locks from the next worker of the step.
    ...(idleTimeoutMs === null ? [] : [`set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`]),
    `set local belay_step.mark = '${mark}'`,
  ].join('; ')
}

/** From here on the transaction holds locks that others wait for: if the process stops before COMMIT, they must not wait long. */
const SETTLE_IDLE_TIMEOUT_MS = 5_000

// Only these words become part of a statement's text, whatever was given.
const ISOLATIONS: Readonly<Record<Isolation, string>> = {
  'read committed': 'read committed',
  'repeatable read': 'repeatable read',
  serializable: 'serializable',
}

export function newMark(): string {
  return Math.random().toString(36).slice(2)
}

/**
 * Runs the work in an open transaction, and records its outcome in the same transaction. Throws if the database is gone: then the caller cannot tell
 * whether the transaction was committed.
 */
export async function workWithin(
  open: OpenTransaction,
  request: Pick<TransactRequest, 'workerId' | 'work' | 'keepAttempts' | 'signal'>,
): Promise<Verdict> {
  // A transaction that was cut off has lost its connection for that reason.
  const storeFailure = (error: unknown) =>
    request.signal?.aborted === true ? null : fromStore(() => open.storeFailure(error))
  let submitted: SubmittedWork | null
  try {
    submitted = await request.work(open.tx)
  } catch (error) {
    if (open.close() !== null) return { rollBack: { type: 'rolled_back', error } }
    return { rollBack: storeFailure(error) ?? failed(error) }
  }
  const misuse = open.close()
  if (submitted === null) return { rollBack: { type: 'rolled_back' } }
  if (misuse !== null) return { rollBack: { type: 'rolled_back', error: misuse } }
  try {
    return await settleWithin(open, request, submitted)
  } catch (error) {
    return { rollBack: (isInFailedTransaction(error) ? storeFailure(undefined) : null) ?? refused(error) }
  }
}

/** A handler may throw anything, even an object that throws when it is inspected. */
function fromStore(failure: () => FailedStore | null): Transacted | null {
  try {
    const failed = failure()
    if (failed === null) return null
    return { type: failed.type === 'failed' ? 'unavailable' : 'conflict', error: failed.error }
  } catch {
    return null
  }
}

async function settleWithin(
  open: OpenTransaction,
  { workerId, keepAttempts }: Pick<TransactRequest, 'workerId' | 'keepAttempts'>,
  { outcome, handBackMax, told }: SubmittedWork,
): Promise<Verdict> {
  const left = await takeOver(open.connection, open.session, limitsOf(open))
  if (left.mark !== open.mark) return { rollBack: { type: 'rolled_back', error: endedByHandler() } }
  if (left.isReadOnly) {
    return { rollBack: { type: 'rolled_back', error: madeReadOnly() } }
  }
  if (told !== undefined) {
    const results = await publishWithin(open.connection, { workerId, ...told })
    if (results.includes('lost')) return { rollBack: { type: 'lost' } }
    if (results.some((result) => result !== 'stored')) return { rollBack: { type: 'unpublished', results } }
  }
  const connection = open.named(left.prepared)
  const request = { workerId, keepAttempts, handBackMax }
  const { settled, ...rest } = await (outcome.type === 'repeated'
    ? repeat(connection, { ...request, outcomes: [outcome] })
    : finish(connection, { ...request, outcomes: [outcome] })
  ).catch((error: unknown) => {
    throw isHeldUp(error) ? new HeldUp(error) : error
  })
  // An outcome recorded by an earlier try does not count either: this try's writes would come on top of it.
  if (settled.length === 0) return { rollBack: { type: 'lost' } }
  if (left.isTakenOver) await putBack(open.connection, left)
  return { commit: { results: ['settled'], ...rest } }
}

/** The settlement's limits. To the database, 0 means no limit. */
function limitsOf({ idleTimeoutMs, settleTimeoutMs }: OpenTransaction) {
  return {
    idleMs: idleTimeoutMs === null ? 0 : Math.min(idleTimeoutMs, SETTLE_IDLE_TIMEOUT_MS),
    // The database times out before this process does: it reports so, and leaves nothing running.
    statementMs: Math.ceil((settleTimeoutMs ?? 0) * 0.8),
    lockMs: Math.ceil((settleTimeoutMs ?? 0) * 0.5),
  }
}

/** Another transaction holds a row that the settlement needs, for longer than Belay waits. Repeating the whole transaction may succeed. */
class HeldUp extends Error {
  override readonly name = 'HeldUp'

  constructor(cause: unknown) {
    super('another transaction held a row that the settlement of the step needs', { cause })
  }
}

function isHeldUp(error: unknown): boolean {
  return codeOf(error) === '55P03' || codeOf(error) === '57014'
}

/** What a failed COMMIT means. Throws if the database is gone, which may have committed. */
export function notCommitted(error: unknown): Transacted {
  if (storeFailureOf(error) === 'failed' && !isEnding(error)) return { type: 'unavailable', error }
  if (isUnavailable(error)) throw error
  return failed(error)
}

/** The COMMIT of a transaction in which a statement has failed rolls back, and reports no error. */
export function failedBefore(cause?: unknown): Transacted {
  const error = new BelayError(
    'transaction_failed',
    'A statement in the step’s transaction failed, but the handler continued: its writes were rolled back. Let the handler throw the error, or run what may fail in a savepoint (`tx.drizzle.transaction`).',
    { cause },
  )
  return { type: 'rolled_back', error }
}

function failed(error: unknown): Transacted {
  return isConflictOf(error) ? { type: 'conflict', error } : { type: 'rolled_back', error }
}

/** A handler may throw anything, even an object that throws when it is inspected. */
function isConflictOf(error: unknown): boolean {
  try {
    return isConflict(error)
  } catch {
    return false
  }
}

function refused(error: unknown): Transacted {
  if (error instanceof HeldUp) return { type: 'conflict', error }
  if (storeFailureOf(error) === 'failed') return { type: 'unavailable', error }
  if (isUnavailable(error)) throw error
  if (isInFailedTransaction(error)) return failedBefore(error)
  const refusal = refusalOf(error)
  return refusal === null ? failed(error) : { type: 'refused', reason: refusal }
}

/** The session was ended, perhaps after the transaction had been committed. */
function isEnding(error: unknown): boolean {
  return codeOf(error)?.startsWith('57P') === true
}

function madeReadOnly(): BelayError {
  return new BelayError(
    'transaction_failed',
    'The handler made the step’s transaction read only (SET TRANSACTION READ ONLY), so its outcome cannot be recorded: its writes were rolled back. Remove that statement from the handler.',
  )
}

function endedByHandler(): BelayError {
  return new BelayError(
    'transaction_ended',
    'The handler ended the step’s transaction itself. What it committed stays committed, and the step does not run again: undo it by hand. Belay commits the transaction with the step’s settlement; remove COMMIT and ROLLBACK from the handler.',
  )
}
