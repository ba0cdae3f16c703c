import { realClock } from '../../../testing/src/clock/real-clock.ts'
import { realTime } from '../../../testing/src/clock/turn.ts'
import type { StoreHarness } from '../../../testing/src/conformance/store/harness.ts'
import { Bench } from '../../../testing/test/owner/bench.ts'

/** Long enough for a machine that is busy. */
const LEASE_MS = 2_000

/** Workers over a real store, in real time. */
export async function benchOver(harness: StoreHarness): Promise<Bench> {
  const { store, transaction, close } = await harness.open()
  return new Bench({ store, transaction, close, clock: realClock, pass: realTime, leaseMs: LEASE_MS })
}
