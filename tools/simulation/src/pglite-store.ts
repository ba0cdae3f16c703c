import { createPglite } from '@belay/postgres-server'
import { pglite } from '@belay/workflow-postgres/pglite'
import type { Transaction } from '@electric-sql/pglite'
import { sqlStore } from './sql-store.ts'
import { prepare, type Query } from './statements.ts'
import type { Stores } from './stores.ts'

const SCHEMA = 'simulated'

/** Worlds in an instance of PGlite: it has one session, so everything waits while a transaction is open. */
export async function pgliteStores(): Promise<Stores> {
  const db = await createPglite()
  const query = queryOn(db)
  const migrating = pglite(db, { schema: SCHEMA, shared: true })
  await migrating.migrate()
  await migrating.close()
  await prepare(query, SCHEMA)
  return {
    name: 'pglite',
    open: () =>
      sqlStore({
        schema: SCHEMA,
        adapter: () => pglite(db, { schema: SCHEMA, shared: true }),
        query,
        singleSession: true,
        queryWithin: (tx) => queryOn((tx as { readonly client?: Transaction }).client ?? (tx as Transaction)),
        transaction: (work) => db.transaction(work),
      }),
    close: () => db.close(),
  }
}

function queryOn(session: Pick<Transaction, 'query'>): Query {
  return async (text, values) => (await session.query<object>(text, values as unknown[])).rows
}
