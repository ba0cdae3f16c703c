import { describeAdapter } from '@belay/testing/conformance'
import { afterAll, beforeAll, describe } from 'vitest'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { type Harnesses, postgresHarnesses } from '../setup/harness.ts'

describe.each(servers)('$name', ({ name, url }) => {
  let database: TestDatabase
  let harnesses: Harnesses
  beforeAll(async () => {
    database = await createDatabase(url, { recyclesSessions: true })
    harnesses = postgresHarnesses(database)
  })
  afterAll(() => database.drop())

  describeAdapter(name, { create: () => harnesses.create() })
})
