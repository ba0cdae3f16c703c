import { BelayError, StoreContendedError, StoreUnavailableError, sentence } from '@belay/workflow/adapter'
import { misconfigurationRemedy, outageRemedy } from './remedies.ts'

/** The address of a database, for messages. Never holds a password. */
export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  /** Set once a store was found there. From then on, any failure to reach it is treated as temporary. */
  wasOpen?: boolean
}

// Trying again later may help: the server is starting, stopping, full, failed over, or out of a resource.
const UNAVAILABLE_CLASSES = ['08', '53', '57P', '58']
const UNAVAILABLE_CODES = new Set([
  // The server is a standby: a failover is under way, and the address will lead to the new primary.
  '25006',
  '57014',
  '25P03',
  '25P04',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EPIPE',
  'EAI_AGAIN',
  // Codes of postgres.js.
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  // Codes of Prisma: the server cannot be reached, took too long, closed the connection.
  'P1001',
  'P1008',
  'P1017',
])

// pg reports these without a code.
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client was closed and is not queryable|Server closed the connection)/

/** A deadlock or a serialization failure: the transaction had no effect, and repeating it may succeed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error) ?? '') || CONFLICTS.has(codeOf(databaseError(error)) ?? '')
}

const CONFLICTS: ReadonlySet<string> = new Set(['40P01', '40001'])

const CAUSES_MAX = 5

/** The database's own error. Errors of drizzle and of handlers have it as their cause. */
function databaseError(error: unknown): unknown {
  for (const cause of causesOf(error)) if (isDatabaseError(cause)) return cause
  return undefined
}

/** An error, its cause, the cause of that, and so on: of a chain without an end, the first few. */
export function* causesOf(error: unknown): Iterable<unknown> {
  let found = error
  for (let depth = 0; depth < CAUSES_MAX && found !== undefined; depth += 1) {
    yield found
    found = found instanceof Error ? found.cause : undefined
  }
}

function isDatabaseError(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error) ?? '')
}

/**
 * The database's reason for refusing a value in one of Belay's statements, else null. Classes 22 (data) and 54 (too deep, too large). Not class 23: no
 * value that a user gives violates a constraint of Belay's tables, so such a violation is a defect of Belay.
 */
export function refusalOf(error: unknown): string | null {
  const code = codeOf(error)
  return code !== null && /^(22|54)/.test(code) ? messageOf(error) : null
}

/** Whether the database refused a statement's values, or they violate a constraint. A repetition would be refused again. */
function isRefused(error: unknown): boolean {
  return refusalOf(error) !== null || codeOf(error)?.startsWith('23') === true
}

/** Turns the driver's errors into Belay's. Unknown errors and Belay's own errors are returned unchanged. */
export function classified(error: unknown, address: DatabaseAddress, lockTimeoutMs?: number): unknown {
  if (BelayError.is(error)) return error
  if (codeOf(error) === LOCK_NOT_AVAILABLE) return contended(error, lockTimeoutMs)
  if (isUnavailable(error)) return unavailable(error, address)
  const remedy = remedyOf(error, address)
  if (remedy === undefined) return error
  if (address.wasOpen === true) return unavailable(error, address)
  return misconfigured(error, address, remedy)
}

function remedyOf(error: unknown, address: DatabaseAddress): string | undefined {
  return misconfigurationRemedy({ code: codeOf(error), message: messageOf(error) }, address)
}

function misconfigured(error: unknown, address: DatabaseAddress, remedy: string): BelayError {
  return new BelayError(
    'store_misconfigured',
    `Belay cannot use ${nameOf(address)}: ${sentence(messageOf(error))}`,
    { remedy, cause: error },
  )
}

/** The error of a connection that could not be opened. Before the store was ever open, it is an error of the configuration if it is not known to pass. */
export function connectErrorOf(error: unknown, address: DatabaseAddress): unknown {
  const known = classified(noteOfDriver(error), address)
  if (known !== error || address.wasOpen === true || !isOfDriver(error)) return known
  return misconfigured(error, address, 'Correct the connection string or the settings of the connection.')
}

/**
 * The same for Belay's own statements. Once a store has been open, only an error about the data counts as a refusal. Every other error of the driver
 * or the server, known or not, is an outage to wait out: a failure of the name service or a changed password must not discard the outcome of a
 * finished step.
 */
export function outageOf(error: unknown, address: DatabaseAddress, lockTimeoutMs?: number): unknown {
  const known = classified(error, address, lockTimeoutMs)
  const isOutage = known === error && address.wasOpen === true && isOfDriver(error) && !isRefused(error)
  return isOutage ? unavailable(error, address) : known
}

const ofDriver = new WeakSet<object>()

/** Marks an error as thrown by the driver, not by code that used it. Returns the error. */
export function noteOfDriver(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) ofDriver.add(error)
  return error
}

function isOfDriver(error: unknown): boolean {
  // A wrong call of the driver fails again when it is repeated.
  const isDefect = error instanceof TypeError || error instanceof RangeError
  return typeof error === 'object' && error !== null && ofDriver.has(error) && !isDefect
}

const LOCK_NOT_AVAILABLE = '55P03'

/** Another transaction holds a lock that a statement needs. */
export function contended(cause: unknown, lockTimeoutMs?: number): StoreContendedError {
  const limit = lockTimeoutMs === undefined ? 'its limit' : `${lockTimeoutMs} ms`
  return new StoreContendedError(
    `Another transaction has held a row or a table that Belay needs for longer than ${limit}. Nothing was written.`,
    { remedy: 'Find the transaction with pg_blocking_pids(), then end it or shorten it.', cause },
  )
}

function unavailable(error: unknown, address: DatabaseAddress): StoreUnavailableError {
  const code = codeOf(error)
  const refused = isAnswer(code)
    ? `The server refused a statement with SQLSTATE ${code}: correct what its message names.`
    : undefined
  const known = remedyOf(error, address) ?? outageRemedy(code) ?? refused
  // A server that answers can be reached.
  const cannot = isAnswer(code) ? 'use' : 'reach'
  return new StoreUnavailableError(
    `Belay cannot ${cannot} ${nameOf(address)}: ${sentence(messageOf(error))}`,
    {
      remedy: known ?? 'Check that the server runs and accepts connections.',
      cause: error,
      answered: isOfStatement(error),
    },
  )
}

// The connection, the login, the session or the whole server: every other statement would fail too.
const NOT_OF_STATEMENT = /^(08|25|26|28|3D|57P|42P05|53300|53400)/

/** Whether the server refused this statement for a reason of its own, of which nothing was written. It may accept others. */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(BelayError.is(error) ? error.cause : error)
  return code !== null && /\d/.test(code) && isSqlState(code) && !NOT_OF_STATEMENT.test(code)
}

/** Whether the server itself told this. Class 08 is what a lost connection is called. */
function isAnswer(code: string | null): boolean {
  return code !== null && /\d/.test(code) && isSqlState(code) && !code.startsWith('08')
}

/** Names a database in messages. */
export function nameOf({ database, host, port }: DatabaseAddress): string {
  return `the database "${database}" at ${host}:${port}`
}

/** Whether trying again later may cure this error of the driver. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  if (code === null) return UNAVAILABLE_MESSAGES.test(messageOf(error))
  return UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CLASSES.some((prefix) => code.startsWith(prefix))
}

/** Whether the database refused a statement because an earlier one of its transaction had failed. */
export function isInFailedTransaction(error: unknown): boolean {
  return codeOf(error) === '25P02'
}

const sqlStates = new WeakMap<object, string>()

/** Remembers the SQLSTATE of an error which a library keeps elsewhere than in `code`: its errors reach the caller unchanged. Returns the error. */
export function noteSqlState(error: unknown): unknown {
  let cause = error
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === 'object' && cause !== null; depth += 1) {
    const state = ownSqlState(cause)
    if (state !== undefined) {
      sqlStates.set(error as object, state)
      return error
    }
    cause = 'cause' in cause ? cause.cause : undefined
  }
  return error
}

/**
 * Names the reason for which a transaction could not begin `read write`. A standby calls that an unsupported feature, as it calls many others: here it
 * gets the SQLSTATE that a standby gives to statements that write. Returns the error.
 */
export function noteStandby(error: unknown): unknown {
  if (codeOf(error) === '0A000') sqlStates.set(error as object, READ_ONLY)
  return error
}

/** The transaction is read only: begun so, by a setting of the session or by its caller, or because the server is a standby. */
export const READ_ONLY = '25006'

function ownSqlState(error: object): string | undefined {
  const { code, originalCode, meta } = error as {
    readonly code?: unknown
    readonly originalCode?: unknown
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: { readonly originalCode?: unknown } } }
  }
  const inner = meta?.driverAdapterError?.cause?.originalCode
  return [inner, originalCode, code].find(
    (given): given is string => typeof given === 'string' && isSqlState(given),
  )
}

/** Prisma's own codes look like those of the database. No class of those begins with P1 to P9. */
function isSqlState(code: string): boolean {
  return /^(?!P[1-9])[0-9A-Z]{5}$/.test(code)
}

/** The SQLSTATE, or Node's code of a socket error. Of several attempts to connect, that of the first. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  const noted = sqlStates.get(error)
  if (noted !== undefined) return noted
  if ('code' in error && typeof error.code === 'string') return error.code
  // Node tries each address of a host, and reports the errors together.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : null
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
