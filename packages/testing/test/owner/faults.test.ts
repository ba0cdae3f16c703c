import { expect, it } from 'vitest'
import { VirtualClock } from '../../src/clock/virtual-clock.ts'
import { Random } from '../../src/conformance/differential/random.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { Bench } from './bench.ts'
import { Faults, noCounts } from './faults.ts'

/** `OWNER_SEEDS=5000` plays so many; `OWNER_SEED=42` one. */
const ONE = process.env['OWNER_SEED']
const SEEDS = Number(process.env['OWNER_SEEDS'] ?? 40)
/** When so many count as hung. */
const LIMIT_MS = Math.max(180_000, SEEDS * 2_000)

it(
  'workers among faults call no ask twice, begin nothing too early, and end every run',
  async () => {
    const counts = noCounts()
    const first = ONE === undefined ? 1 : Number(ONE)
    for (let seed = first; seed < first + (ONE === undefined ? SEEDS : 1); seed += 1) {
      const clock = new VirtualClock()
      const store = memoryStore({ clock })
      const pass = (ms: number) => clock.advance(ms)
      const given = new Bench({
        store,
        clock,
        pass,
        leaseMs: 1_000,
        transaction: store.transaction,
        close: () => store.close(),
      })
      try {
        await new Faults(given, new Random(seed), counts).play(40)
      } catch (error) {
        throw new Error(`Seed ${seed}: ${String(error)}\n${given.logged.slice(-8).join('\n')}`, {
          cause: error,
        })
      }
      await given.close()
    }
    // What did not happen was not proved.
    if (ONE === undefined)
      for (const [what, count] of Object.entries(counts)) expect([what, count > 0]).toEqual([what, true])
  },
  LIMIT_MS,
)
