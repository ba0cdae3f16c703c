import {
  BelayError,
  type Isolation,
  type Settlement,
  type StepTransaction,
  type Transacted,
  type TransactRequest,
} from '@belay/workflow/adapter'
import { codeOf, isConflict, isInFailedTransaction, isUnavailable, refusalOf } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { finish } from '../settle/finish-attempts.ts'
import { putBack, type StepSession, takeOver } from './step-session.ts'

/** A transaction that was begun for a step. */
export interface OpenTransaction {
  /** Belay's statements in it, none of them prepared by name. */
  readonly connection: Connection
  /** The same, prepared by name if that is known to work in a session with these prepared statements. */
  named(prepared: readonly string[]): Connection
  /** The session before the handler had it. */
  readonly session: StepSession
  /** What the handler gets of it. */
  readonly tx: StepTransaction
  /** Set in the session for as long as the transaction lasts. */
  readonly mark: string
  /** How long it may be idle while the handler has it; null without limit. */
  readonly idleTimeoutMs: number | null
  /** How long a statement of the settlement may take; null without limit. */
  readonly settleTimeoutMs: number | null
  /** Takes it from the handler. Returns what the handler tried to do to it, if it must not. Idempotent. */
  close(): BelayError | null
}

/** What is to be done with it: committed for a settlement, or rolled back for what it says. */
export type Verdict =
  | { readonly commit: Settlement }
  | { readonly commit?: undefined; readonly rollBack: Transacted }

/** The beginning of such a transaction, as one text. */
export function beginning(
  { mark, idleTimeoutMs }: Pick<OpenTransaction, 'mark' | 'idleTimeoutMs'>,
  isolation: Isolation,
): string {
  return [
    `set transaction isolation level ${ISOLATIONS[isolation]}`,
    // A process that is stopped or cut off must not keep what it has locked from whoever has the step next.
    ...(idleTimeoutMs === null ? [] : [`set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`]),
    `set local belay_step.mark = '${mark}'`,
  ].join('; ')
}

/** From here on the transaction locks rows that others wait for, so that a process which stops before COMMIT is not waited for long. */
const SETTLE_IDLE_TIMEOUT_MS = 5_000

// What becomes part of a statement's text is one of these, whatever was given.
const ISOLATIONS: Readonly<Record<Isolation, string>> = {
  'read committed': 'read committed',
  'repeatable read': 'repeatable read',
  serializable: 'serializable',
}

export function newMark(): string {
  return Math.random().toString(36).slice(2)
}

/**
 * Has the work done in an open transaction, and its outcome recorded in the same. Throws what says that the database is gone: the caller
 * cannot tell then what became of it.
 */
export async function workWithin(
  open: OpenTransaction,
  request: Pick<TransactRequest, 'workerId' | 'work' | 'keepAttempts'>,
): Promise<Verdict> {
  let submitted: Awaited<ReturnType<TransactRequest['work']>>
  try {
    submitted = await request.work(open.tx)
  } catch (error) {
    return { rollBack: open.close() === null ? failed(error) : { type: 'rolled_back', error } }
  }
  const misuse = open.close()
  if (submitted === null) return { rollBack: { type: 'rolled_back' } }
  if (misuse !== null) return { rollBack: { type: 'rolled_back', error: misuse } }
  try {
    return await settleWithin(open, request, submitted)
  } catch (error) {
    return { rollBack: refused(error) }
  }
}

async function settleWithin(
  open: OpenTransaction,
  { workerId, keepAttempts }: Pick<TransactRequest, 'workerId' | 'keepAttempts'>,
  { outcome, handBackMax }: NonNullable<Awaited<ReturnType<TransactRequest['work']>>>,
): Promise<Verdict> {
  const left = await takeOver(open.connection, open.session, limitsOf(open))
  if (left.mark !== open.mark) return { rollBack: { type: 'rolled_back', error: endedByHandler() } }
  if (left.isReadOnly && !open.session.isReadOnly) {
    return { rollBack: { type: 'rolled_back', error: madeReadOnly() } }
  }
  const { settled, ...rest } = await finish(open.named(left.prepared), {
    workerId,
    keepAttempts,
    outcomes: [outcome],
    handBackMax,
  }).catch((error: unknown) => {
    throw isHeldUp(error) ? new HeldUp(error) : error
  })
  // Not even what was recorded by an earlier try counts: this one's writes would come on top of it.
  if (settled.length === 0) return { rollBack: { type: 'lost' } }
  if (left.isTakenOver) await putBack(open.connection, left)
  return { commit: { results: ['settled'], ...rest } }
}

/** The settlement's limits. Without one, 0 says so to the database. */
function limitsOf({ idleTimeoutMs, settleTimeoutMs }: OpenTransaction) {
  return {
    idleMs: idleTimeoutMs === null ? 0 : Math.min(idleTimeoutMs, SETTLE_IDLE_TIMEOUT_MS),
    // The database gives up before this process does: then it says so, and nothing is left running.
    statementMs: Math.ceil((settleTimeoutMs ?? 0) * 0.8),
    lockMs: Math.ceil((settleTimeoutMs ?? 0) * 0.5),
  }
}

/** Somebody else holds a row that the settlement needs, for longer than is waited: the same again, from the beginning, may succeed. */
class HeldUp extends Error {
  override readonly name = 'HeldUp'

  constructor(cause: unknown) {
    super('another transaction held a row that the settlement of the step needs', { cause })
  }
}

function isHeldUp(error: unknown): boolean {
  return codeOf(error) === '55P03' || codeOf(error) === '57014'
}

/** What a failed COMMIT means. Throws what says that the database is gone. */
export function notCommitted(error: unknown): Transacted {
  if (isUnavailable(error)) throw error
  return failed(error)
}

/** COMMIT of a transaction in which a statement has failed rolls back, and says so without an error. */
export function failedBefore(cause?: unknown): Transacted {
  const error = new BelayError(
    'transaction_failed',
    'A statement of the step’s transaction had failed, and the handler went on: nothing it did was kept. Let the error out of the handler, or put what may fail in a savepoint (`tx.drizzle.transaction`).',
    { cause },
  )
  return { type: 'rolled_back', error }
}

function failed(error: unknown): Transacted {
  return isConflictOf(error) ? { type: 'conflict', error } : { type: 'rolled_back', error }
}

/** What a handler throws may be anything, also what throws when it is looked at. */
function isConflictOf(error: unknown): boolean {
  try {
    return isConflict(error)
  } catch {
    return false
  }
}

function refused(error: unknown): Transacted {
  if (error instanceof HeldUp) return { type: 'conflict', error }
  if (isUnavailable(error)) throw error
  if (isInFailedTransaction(error)) return failedBefore(error)
  const refusal = refusalOf(error)
  return refusal === null ? failed(error) : { type: 'refused', reason: refusal }
}

function madeReadOnly(): BelayError {
  return new BelayError(
    'transaction_failed',
    'The handler made the step’s transaction read only (SET TRANSACTION READ ONLY), so that its outcome cannot be recorded: nothing it did was kept. Leave that out of the handler.',
  )
}

function endedByHandler(): BelayError {
  return new BelayError(
    'transaction_ended',
    'The handler ended the step’s transaction itself. What it committed stands, and the step is not run again: undo it by hand. Belay commits the transaction with the step’s settlement; leave COMMIT and ROLLBACK out of the handler.',
  )
}
