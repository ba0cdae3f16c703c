import { afterAll, beforeAll, describe, it } from 'vitest'
import { describeStore } from '../../../testing/src/conformance/store/describe.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarness } from './harness.ts'

describe.each(servers)('the store on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  describeStore(
    postgresHarness(() => database),
    { it },
  )
})
