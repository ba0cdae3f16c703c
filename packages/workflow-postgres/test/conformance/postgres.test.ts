import { describeAdapter } from '@belay/testing/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgres } from '../../src/index.ts'
import { setClock } from '../setup/clock.ts'
import { createDatabase, createStore, servers, type TestDatabase } from '../setup/database.ts'

describe.each(servers)('$name', ({ name, url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  describeAdapter(name, {
    async create() {
      const adapter = await createStore(database)
      const clock = await setClock((text) => database.pool.query(text), adapter.schema)
      const others: ReturnType<typeof postgres>[] = []
      return {
        adapter,
        advance: clock.advance,
        async second() {
          const other = postgres(database.pool, { schema: adapter.schema })
          await other.open()
          others.push(other)
          return other
        },
        async close() {
          await Promise.all([adapter, ...others].map((open) => open.close()))
        },
      }
    },
  })
})
