import { randomBytes } from 'node:crypto'
import type { Store } from '@belay/workflow/store'
import type { OpenedStore, StoreHarness } from '../../../testing/src/conformance/store/harness.ts'
import { pgliteStore } from '../../src/pglite/adapter.ts'
import { postgresStore } from '../../src/postgres/postgres.ts'
import type { TestDatabase } from '../setup/database.ts'

/** A schema of its own for each store, whose clock a test moves. */
export function postgresHarness(database: () => TestDatabase): StoreHarness {
  return {
    name: 'postgres',
    async open() {
      const { pool } = database()
      const schema = `belay_${randomBytes(6).toString('hex')}`
      const store = postgresStore(pool, { schema })
      return opened(store, {
        schema,
        run: (text) => pool.query(text),
        async transaction(work) {
          const client = await pool.connect()
          try {
            await client.query('begin')
            const result = await work(client)
            await client.query('commit')
            return result
          } catch (error) {
            await client.query('rollback')
            throw error
          } finally {
            client.release()
          }
        },
      })
    },
  }
}

type Instance = Extract<Parameters<typeof pgliteStore>[0], object>

/** One instance for all cases: each has a schema of its own. */
export function pgliteHarness(instance: () => Instance): StoreHarness {
  return {
    name: 'pglite',
    async open() {
      const schema = `belay_${randomBytes(6).toString('hex')}`
      const store = pgliteStore(instance(), { schema })
      return opened(store, {
        schema,
        run: (text) => instance().exec(text),
        transaction: <Result>(work: (tx: unknown) => Promise<Result>) =>
          instance().transaction(work) as Promise<Result>,
      })
    },
  }
}

interface Over {
  readonly schema: string
  run(text: string): Promise<unknown>
  transaction: OpenedStore['transaction']
}

async function opened(
  store: Store,
  { schema, run, transaction }: Over,
): Promise<OpenedStore & { readonly schema: string }> {
  await store.migrate()
  await store.open()
  let aheadMs = 0
  return {
    ...{ store, schema, transaction },
    async advance(ms) {
      aheadMs += ms
      await run(
        `create or replace function ${schema}.store_now() returns timestamptz language sql stable
        as $$ select pg_catalog.now() + ${aheadMs} * interval '1 millisecond' $$`,
      )
    },
    async close() {
      await store.close()
      await run(`drop schema ${schema} cascade`)
    },
  }
}
