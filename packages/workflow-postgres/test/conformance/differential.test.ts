import { compareAdapters, memoryHarness } from '@belay/testing/conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarnesses } from '../setup/harness.ts'

// For more seeds: BELAY_SEEDS=100 npx vitest run test/conformance/differential.test.ts
const SEEDS = Number(process.env['BELAY_SEEDS'] ?? 2)
const COMMANDS = 200

describe.each(servers)('random commands on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url, { recyclesSessions: true })
  })
  afterAll(() => database.drop())

  const seeds = Array.from({ length: SEEDS }, (_, seed) => seed + 1)
  it.each(seeds)('do the same as in memory, seed %i', async (seed) => {
    const [reference, sql] = [memoryHarness(), await postgresHarnesses(database).create()]
    await expect(compareAdapters(seed, reference, sql, COMMANDS)).resolves.toBeUndefined()
    await sql.close()
  })
})
