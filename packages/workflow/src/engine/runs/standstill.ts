import type { Adapter } from '../../adapter/index.ts'
import { BelayError } from '../../errors.ts'
import { type Runtime, stillnessOf } from '../base/runtime.ts'

/** Who waits for a run. */
export interface Waiting {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly runId: string
  readonly giveUp: (error: BelayError) => void
}

/** Calls `giveUp` once the store's virtual time stands still, with nobody who moves it. Returns a function that cancels this. */
export function onStandstill({ adapter, runtime, runId, giveUp }: Waiting): () => void {
  // Only then does the clock know whether handlers run.
  if (stillnessOf(adapter, runtime) === undefined) return () => {}
  const { clock } = runtime
  const timer = clock.onStandstill?.(() => giveUp(timeStandsStill(runId, clock.now())))
  return () => timer?.cancel()
}

function timeStandsStill(runId: string, now: number): BelayError {
  return new BelayError(
    'time_stands_still',
    `Run ${runId} is awaited, but its clock is virtual, stands at ${new Date(now).toISOString()}, and nobody moves it. Await it with \`await clock.runUntil(run.result())\`, or move time with \`await clock.advance('1h')\`; the clock is adapter.clock of memory(). Ask with explain() what the run waits for.`,
    { runId },
  )
}
