import { createPglite } from '@belay/postgres-server'
import { compareAdapters, describeAdapter, memoryHarness } from '@belay/testing/conformance'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harnesses, pgliteHarnesses } from '../setup/harness.ts'

let db: PGlite
let harnesses: Harnesses
beforeAll(async () => {
  db = await createPglite()
  harnesses = pgliteHarnesses(db)
})
afterAll(() => db.close())

describeAdapter('PGlite', {
  create: () => harnesses.create(),
  capabilities: { singleSession: true },
})

test('random commands do the same in PGlite as in memory', async () => {
  const [reference, sql] = [memoryHarness(), await harnesses.create()]
  await expect(compareAdapters(1, reference, sql, 100)).resolves.toBeUndefined()
  await sql.close()
})
