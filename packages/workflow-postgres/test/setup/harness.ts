import { randomBytes } from 'node:crypto'
import type { Harness } from '@belay/testing/conformance'
import type { PGlite } from '@electric-sql/pglite'
import { type PostgresAdapter, postgres } from '../../src/index.ts'
import { pglite } from '../../src/pglite.ts'
import { type StandingClock, setClock } from './clock.ts'
import type { TestDatabase } from './database.ts'
import { assertJournaled } from './journal.ts'
import { assertNoOrphans } from './orphans.ts'
import { emptyTables } from './tables.ts'

/** Makes harnesses in one database. */
export interface Harnesses {
  create(): Promise<Harness>
}

/** Each harness has its own schema; a second adapter has its own pool, as in another process. */
export function postgresHarnesses(database: TestDatabase): Harnesses {
  const schemas = emptySchemas((text) => database.pool.query(text))
  return {
    async create() {
      const schema = schemas.take()
      const adapter = postgres(database.pool, { schema, autoMigrate: true })
      await adapter.open()
      const { advance } = await schemas.clock(schema)
      const others: PostgresAdapter[] = []
      return {
        adapter,
        advance,
        async transaction(work) {
          const client = await database.pool.connect()
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
        async second() {
          const other = postgres(database.url, { schema })
          others.push(other)
          await other.open()
          return other
        },
        verify: () => verify((text) => database.pool.query(text), schema),
        async close() {
          await Promise.all([adapter, ...others].map((open) => open.close()))
          await schemas.giveBack(schema)
        },
      }
    },
  }
}

/** The same in an instance of PGlite, which has only one session. */
export function pgliteHarnesses(db: PGlite): Harnesses {
  const schemas = emptySchemas((text) => db.exec(text))
  return {
    async create() {
      const schema = schemas.take()
      const [adapter, other] = [pglite(db, { schema }), pglite(db, { schema })]
      await adapter.open()
      const { advance } = await schemas.clock(schema)
      return {
        adapter,
        advance,
        transaction: (work) => db.transaction(work),
        async second() {
          await other.open()
          return other
        },
        verify: () => verify((text) => db.query(text), schema),
        async close() {
          await Promise.all([adapter.close(), other.close()])
          await schemas.giveBack(schema)
        },
      }
    },
  }
}

/** Invariants of the tables after every case that the port does not show. */
async function verify(query: Parameters<typeof assertJournaled>[0], schema: string): Promise<void> {
  await assertJournaled(query, schema)
  await assertNoOrphans(query, schema)
}

/** Names of empty schemas. A released one is emptied and reused: creating one takes longer than most tests. */
function emptySchemas(run: (text: string) => Promise<unknown>) {
  const idle: string[] = []
  const clocks = new Map<string, StandingClock>()
  return {
    take: () => idle.pop() ?? `belay_${randomBytes(6).toString('hex')}`,
    /** The clock of a migrated schema, at its beginning. */
    async clock(schema: string): Promise<StandingClock> {
      const clock = clocks.get(schema) ?? (await setClock(run, schema))
      clocks.set(schema, clock)
      await clock.reset()
      return clock
    },
    async giveBack(schema: string) {
      await run(emptyTables(schema))
      idle.push(schema)
    },
  }
}
