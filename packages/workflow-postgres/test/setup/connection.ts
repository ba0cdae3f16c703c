import type { Connection } from '../../src/connection/connection.ts'
import { poolConnection } from '../../src/connection/pool-connection.ts'
import type { TestDatabase } from './database.ts'

/** Runs statements for one schema as the adapters do, for tests of what adapters do not offer. */
export function connectionTo(
  { pool }: Pick<TestDatabase, 'pool'>,
  schema: string,
  isPooled = false,
): Connection {
  return poolConnection({
    lender: {
      async lend(work) {
        const client = await pool.connect()
        try {
          return await work({ isPooled, query: (config) => client.query(config) })
        } finally {
          client.release()
        }
      },
    },
    schema,
    prepare: true,
    address: { host: '', port: 0, database: '', user: '' },
  })
}
