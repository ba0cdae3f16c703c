import { realClock } from '../../../testing/src/clock/real-clock.ts'
import { realTime } from '../../../testing/src/clock/turn.ts'
import type { StoreHarness } from '../../../testing/src/conformance/store/harness.ts'
import { Bench } from '../../../testing/test/owner/bench.ts'

/** For cases in which leases end: these bear it if one more ends, because the machine is busy. */
export const ENDING_MS = 3_000
const LASTING_MS = 30_000

/** Workers over a real store, in real time. Default lease: one that lasts, whatever else the machine does. */
export async function benchOver(harness: StoreHarness, leaseMs = LASTING_MS): Promise<Bench> {
  const { store, transaction, close } = await harness.open()
  return new Bench({ store, transaction, close, clock: realClock, pass: realTime, leaseMs })
}
