import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../../testing/src/conformance/differential/random.ts'
import { type Counts, Faults, noCounts } from '../../../testing/test/owner/faults.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { postgresHarness } from '../store/harness.ts'
import { benchOver, ENDING_MS } from './host.ts'

/** `OWNER_SEEDS=20` plays so many, each in half a minute of real time. Without it none: over memory, time is no matter. */
const SEEDS = Number(process.env['OWNER_SEEDS'] ?? 0)

describe.skipIf(SEEDS === 0).each(servers)('workers among faults on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it(
    'call no ask twice, begin nothing too early, and end every run',
    async () => {
      const counts: Counts = noCounts()
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const given = await benchOver(
          postgresHarness(() => database),
          ENDING_MS,
        )
        try {
          await new Faults(given, new Random(seed), counts).play(40)
        } catch (error) {
          throw new Error(`Seed ${seed}: ${String(error)}\n${given.logged.slice(-8).join('\n')}`, {
            cause: error,
          })
        } finally {
          await given.close()
        }
      }
      expect(counts.crashes + counts.lost).toBeGreaterThan(0)
    },
    60_000 * SEEDS,
  )
})
