import { afterAll, beforeAll, describe, it } from 'vitest'
import { ownerCases } from '../../../testing/test/owner/cases/index.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarness } from '../store/harness.ts'
import { benchOver } from './host.ts'

describe.each(servers)('owners over the store on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  describe.each(Object.entries(ownerCases))('%s', (_, cases) => {
    it.each(Object.entries(cases))('%s', async (_name, act) => {
      const given = await benchOver(postgresHarness(() => database))
      try {
        await act(given)
      } finally {
        await given.close()
      }
    })
  })
})
