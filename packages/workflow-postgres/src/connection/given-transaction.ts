import { BelayError, shown } from '@belay/workflow/adapter'
import type { Transaction } from '@electric-sql/pglite'
import type { ClientBase } from 'pg'
import type { Connection } from './connection.ts'

/** The adapter's function, as messages name it. */
export type AdapterName = 'postgres()' | 'pglite()'

/** A transaction opened by the caller of a verb, unwrapped. */
export type GivenTransaction =
  | { readonly driver: 'pg'; readonly client: ClientBase }
  | { readonly driver: 'pglite'; readonly transaction: Transaction }

const ACCEPTED: Readonly<Record<AdapterName, string>> = {
  'postgres()':
    'Give a pg client on which BEGIN was issued, the transaction that drizzle over node-postgres gives, or the tx of a transactional step',
  'pglite()':
    'Give the transaction that transaction() of PGlite or of drizzle over it gives, or the tx of a transactional step',
}

/** Finds the driver's own transaction in `tx`. Throws `invalid_option` if there is none. */
export function recognise(tx: unknown, adapter: AdapterName): GivenTransaction {
  const found = lookInto(tx)
  if (typeof found === 'object') return found
  throw refused(adapter, `is ${found}`)
}

/** The driver's own transaction, or a text that says what was given instead. */
function lookInto(tx: unknown): GivenTransaction | string {
  try {
    const driver = driverOf(tx)
    if (isPgliteTransaction(driver)) return { driver: 'pglite', transaction: driver }
    if (isPgClient(driver)) return { driver: 'pg', client: driver }
    return described(tx, driver)
  } catch {
    return 'an object that cannot be read'
  }
}

export function refused(adapter: AdapterName, what: string, cause?: unknown): BelayError {
  return new BelayError('invalid_option', `The tx given to ${adapter} ${what}. ${ACCEPTED[adapter]}.`, {
    cause,
  })
}

/** Drizzle's transactions and the `tx` of transactional steps contain the driver's transaction. */
function driverOf(tx: unknown): unknown {
  if (!isObject(tx)) return tx
  // The `tx` of a transactional step: a pg client has no `drizzle`.
  if ('client' in tx && 'drizzle' in tx) return tx['client']
  const session = tx['session']
  return isObject(session) && 'client' in session ? session['client'] : tx
}

function isPgliteTransaction(driver: unknown): driver is Transaction {
  return hasAll(driver, ['query', 'exec', 'rollback', 'closed']) && !('transaction' in driver)
}

// A pool has no `connectionParameters`, only options.
function isPgClient(driver: unknown): driver is ClientBase {
  return hasAll(driver, ['query', 'connectionParameters'])
}

function described(tx: unknown, driver: unknown): string {
  const through = driver === tx ? '' : ', inside what was given'
  if (hasAll(driver, ['query', 'totalCount', 'connect'])) {
    return `a pg Pool${through}: each of its queries may take another connection, so it has no transaction`
  }
  if (hasAll(driver, ['query', 'exec', 'transaction'])) {
    return `a PGlite database${through}, not a transaction in it`
  }
  if (driver !== tx) return `drizzle over a driver that is not this adapter's`
  if (typeof tx !== 'object' || tx === null) return shown(tx)
  const names = Object.keys(tx)
  return names.length === 0 ? shown(tx) : `an object with ${names.slice(0, 5).join(', ')}`
}

function hasAll(value: unknown, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  return isObject(value) && names.every((name) => name in value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null
}

/** Makes a connection that is already one transaction run each `transaction()` under a savepoint. */
export function withSavepoints(over: Pick<Connection, 'query' | 'script'>): Connection {
  const own: Connection = {
    ...over,
    async transaction(work) {
      await over.script('savepoint belay')
      try {
        const result = await work({ ...own, transaction: (nested) => nested(own) })
        await over.script('release savepoint belay')
        return result
      } catch (error) {
        // If this fails too, the connection is gone, and the error above says so.
        await over.script('rollback to savepoint belay').catch(() => {})
        throw error
      }
    },
  }
  return own
}
