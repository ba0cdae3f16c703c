import { BelayError, StoreContendedError, StoreUnavailableError, sentence } from '@belay/workflow/adapter'

/** Where a database is, for messages. Never holds a password. */
export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  /** Set once a store was found there: from then on what keeps us from it passes, as far as we can know. */
  wasOpen?: boolean
}

// A later try may cure these: the server is starting, stopping, full, failed over, or out of some resource.
const UNAVAILABLE_CLASSES = ['08', '53', '57P', '58']
const UNAVAILABLE_CODES = new Set([
  // The server answers, but as a standby: a failover is under way, and the address will lead to the new primary.
  '25006',
  '57014',
  '25P03',
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
])

// pg reports these without a code.
const UNAVAILABLE_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client was closed and is not queryable|Server closed the connection)/

/** A deadlock or a serialization failure: the transaction had no effect, and running it again may succeed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error) ?? '') || CONFLICTS.has(codeOf(databaseError(error)) ?? '')
}

const CONFLICTS: ReadonlySet<string> = new Set(['40P01', '40001'])

const CAUSES_MAX = 5

/** The database's own error: what drizzle and handlers throw has it as its cause. */
function databaseError(error: unknown): unknown {
  let found = error
  for (let depth = 0; depth < CAUSES_MAX && !isDatabaseError(found); depth += 1) {
    found = found instanceof Error ? found.cause : undefined
  }
  return found
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

/** Tells whether the database refused a statement for what it would store: also for a violated constraint. Sent again, it is refused again. */
function isRefused(error: unknown): boolean {
  return refusalOf(error) !== null || codeOf(error)?.startsWith('23') === true
}

/** Turns what the driver throws into Belay's errors; what it doesn't know, and what already is one, stays as it is. */
export function classified(error: unknown, address: DatabaseAddress, lockTimeoutMs?: number): unknown {
  if (BelayError.is(error)) return error
  if (codeOf(error) === LOCK_NOT_AVAILABLE) return contended(error, lockTimeoutMs)
  if (isUnavailable(error)) return unavailable(error, address)
  const remedy = MISCONFIGURATIONS[codeOf(error) ?? '']
  if (remedy === undefined) return error
  if (address.wasOpen === true) return unavailable(error, address)
  return new BelayError(
    'store_misconfigured',
    `Belay cannot use ${nameOf(address)}: ${sentence(messageOf(error))} ${remedy(address)}`,
    { cause: error },
  )
}

/**
 * The same for Belay's own statements. Once a store has been open, only what names the data is a refusal of the statement: all else that the
 * driver or the server says, known or not, is an outage to be waited out. A finished step's outcome must not be given up for a gap in the
 * name service, or for a password that is being changed.
 */
export function outageOf(error: unknown, address: DatabaseAddress, lockTimeoutMs?: number): unknown {
  const known = classified(error, address, lockTimeoutMs)
  const isOutage = known === error && address.wasOpen === true && isOfDriver(error) && !isRefused(error)
  return isOutage ? unavailable(error, address) : known
}

const ofDriver = new WeakSet<object>()

/** Notes that an error came out of the driver, and not out of code that used it. Returns the error. */
export function noteOfDriver(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) ofDriver.add(error)
  return error
}

function isOfDriver(error: unknown): boolean {
  // A defect in how the driver is called is not cured by calling it again.
  const isDefect = error instanceof TypeError || error instanceof RangeError
  return typeof error === 'object' && error !== null && ofDriver.has(error) && !isDefect
}

const LOCK_NOT_AVAILABLE = '55P03'

/** Somebody else's transaction holds what a statement needs. */
export function contended(cause: unknown, lockTimeoutMs?: number): StoreContendedError {
  const limit = lockTimeoutMs === undefined ? 'its limit' : `${lockTimeoutMs} ms`
  return new StoreContendedError(
    `Another transaction has held a row or a table that Belay needs for longer than ${limit}. Nothing was written, and Belay tries again. Find the transaction with pg_blocking_pids(), and end it or make it shorter.`,
    { cause },
  )
}

function unavailable(error: unknown, address: DatabaseAddress): StoreUnavailableError {
  const remedy = MISCONFIGURATIONS[codeOf(error) ?? '']
  return new StoreUnavailableError(
    `Belay cannot reach ${nameOf(address)}: ${sentence(messageOf(error))} A running worker keeps trying. ${
      remedy === undefined ? 'Check that the server runs and accepts connections.' : remedy(address)
    }`,
    { cause: error },
  )
}

/** Names a database in messages. */
export function nameOf({ database, host, port }: DatabaseAddress): string {
  return `the database "${database}" at ${host}:${port}`
}

const MISCONFIGURATIONS: Readonly<Record<string, (address: DatabaseAddress) => string>> = {
  '28P01': ({ user }) => `Check the password of user "${user}" in the connection string.`,
  '28000': ({ user }) => `Check that user "${user}" exists and that pg_hba.conf lets it in.`,
  '3D000': ({ database }) => `Create it (createdb ${database}) or correct the connection string.`,
  '42501': ({ user }) =>
    `Grant user "${user}" the right to use Belay's schema, and to create in it for migrations.`,
  '26000': () =>
    'Prepared statements are lost on the way to the server: with a pooler in transaction mode, set `prepare: false`.',
  '42P05': () =>
    'Another client has prepared statements under the same names: with a pooler in transaction mode, set `prepare: false`.',
  ENOTFOUND: ({ host }) => `The host name "${host}" is not known: correct the connection string.`,
  ENOENT: ({ host }) => `There is no socket at "${host}": correct the connection string.`,
}

/** Tells whether an error of the driver is one that a later try may cure. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  if (code === null) return UNAVAILABLE_MESSAGES.test(messageOf(error))
  return UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CLASSES.some((prefix) => code.startsWith(prefix))
}

/** Tells whether the database refused a statement because of an earlier one of its transaction, which had failed. */
export function isInFailedTransaction(error: unknown): boolean {
  return codeOf(error) === '25P02'
}

/** The SQLSTATE, or Node's code of a socket error, of an error or of the first of several attempts to connect. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  // Node tries each address of a host, and reports them together.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : null
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
