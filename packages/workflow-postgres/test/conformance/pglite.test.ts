import { createPglite } from '@belay/postgres-server'
import { compareAdapters, describeAdapter, memoryHarness } from '@belay/testing/conformance'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Harnesses, pgliteHarnesses } from '../setup/harness.ts'

/**
 * 3: every third case runs. PGlite runs the same statements as PostgreSQL, on which all cases run. `npm run pglite`, which is a stage of CI, runs all
 * of them here too: its sessions have other plans, and a case has failed by that.
 */
const EVERY = process.env['PGLITE_CASES'] === 'all' ? 1 : 3

let db: PGlite
let harnesses: Harnesses
beforeAll(async () => {
  db = await createPglite()
  harnesses = pgliteHarnesses(db)
})
afterAll(() => db.close())

let reached = 0
beforeEach(({ skip }) => {
  reached += 1
  skip(reached % EVERY !== 1 % EVERY, 'npm run pglite runs every case')
})

describeAdapter('PGlite', {
  create: () => harnesses.create(),
  capabilities: { singleSession: true },
})

test('random commands do the same in PGlite as in memory', async () => {
  const [reference, sql] = [memoryHarness(), await harnesses.create()]
  await expect(compareAdapters(1, reference, sql, 100)).resolves.toBeUndefined()
  await sql.close()
})
