import { BelayError, shown } from '@belay/workflow/adapter'
import {
  type GivenTransaction,
  isShape,
  type Recogniser,
  type Shape,
  type Unsuitable,
} from './given-transaction.ts'
import { knex } from './libraries/knex.ts'
import { kysely } from './libraries/kysely.ts'
import { pg } from './libraries/pg.ts'
import { pglite } from './libraries/pglite.ts'
import { postgresJs } from './libraries/postgres-js.ts'
import { prisma } from './libraries/prisma.ts'
import { query } from './libraries/query.ts'
import { typeorm } from './libraries/typeorm.ts'

/** The adapter's function, as messages name it. */
export type AdapterName = 'postgres()' | 'pglite()'

const ACCEPTED: Readonly<Record<AdapterName, string>> = {
  'postgres()':
    'Give a pg client on which BEGIN was issued, an open transaction of drizzle, postgres.js, Kysely, Knex, Prisma or TypeORM, the tx of a transactional step, or an object whose query(text, values) runs in the transaction',
  'pglite()':
    'Give the transaction that transaction() of PGlite or of drizzle over it gives, or the tx of a transactional step',
}

/** The first that knows an object decides. The last one takes every object with a query(). */
const RECOGNISERS: readonly Recogniser[] = [prisma, kysely, knex, postgresJs, typeorm, pglite, pg, query]

/** Finds the driver's own transaction in `tx`. Throws `invalid_option` if there is none. */
export function recognise(tx: unknown, adapter: AdapterName): GivenTransaction {
  const found = lookInto(tx)
  if ('driver' in found) return found
  throw refused(adapter, `is ${found.what}${found.because}`)
}

export function refused(adapter: AdapterName, what: string, cause?: unknown): BelayError {
  return new BelayError('invalid_option', `The tx given to ${adapter} ${what}. ${ACCEPTED[adapter]}.`, {
    cause,
  })
}

function lookInto(tx: unknown): GivenTransaction | Unsuitable {
  if (!isShape(tx)) return { what: shown(tx), because: '' }
  try {
    return known(tx) ?? insideOf(tx) ?? { what: described(tx), because: '' }
  } catch {
    return { what: 'an object that cannot be read', because: '' }
  }
}

function known(tx: Shape): GivenTransaction | Unsuitable | undefined {
  for (const recogniser of RECOGNISERS) {
    const found = recogniser(tx)
    if (found !== undefined) return found
  }
  return undefined
}

/** Drizzle's transactions and the `tx` of transactional steps contain the driver's transaction. */
function insideOf(tx: Shape): GivenTransaction | Unsuitable | undefined {
  const session = tx['session']
  const holder = isStepTransaction(tx) ? tx : isShape(session) ? session : undefined
  const inner = holder?.['client']
  if (inner === undefined) return undefined
  const found = isShape(inner) ? known(inner) : undefined
  if (found === undefined) return { what: 'drizzle over a driver', because: " that is not this adapter's" }
  return 'driver' in found ? found : { ...found, because: `, inside what was given${found.because}` }
}

// Not read: its drizzle is made on demand.
function isStepTransaction(tx: Shape): boolean {
  return 'client' in tx && 'drizzle' in tx
}

function described(tx: Shape): string {
  if (typeof tx === 'function') return 'a function'
  const names = Object.keys(tx)
  return names.length === 0 ? shown(tx) : `an object with ${names.slice(0, 5).join(', ')}`
}
