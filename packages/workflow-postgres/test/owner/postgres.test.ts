import { afterAll, beforeAll, describe, it } from 'vitest'
import { ownerCases } from '../../../testing/test/owner/cases/index.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarness } from '../store/harness.ts'
import { benchOver, ENDING_MS } from './host.ts'

/** Rooms in whose cases leases end. */
const ENDS: ReadonlySet<string> = new Set(['lost answers', 'refused', 'takeover'])

describe.each(servers)('owners over the store on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  describe.each(Object.entries(ownerCases))('%s', (room, cases) => {
    it.each(Object.entries(cases))('%s', async (_name, act) => {
      const given = await benchOver(
        postgresHarness(() => database),
        ENDS.has(room) ? ENDING_MS : undefined,
      )
      try {
        await act(given)
      } finally {
        await given.close()
      }
    })
  })
})
