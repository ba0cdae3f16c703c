import { setTimeout as delay } from 'node:timers/promises'
import type { Engine, RunHandle } from '@belay/workflow'
import type { Workload } from '../workloads.ts'

/** How soon the results of single runs are there, in milliseconds, for a process that only starts and awaits runs. */
export interface ResultLatencies {
  /** From the call of `run()`. */
  readonly sinceRunMs: readonly number[]
  /** From the beginning of the transaction in which the run ended, by the server's clock: that of the same machine. */
  readonly sinceEndMs: readonly number[]
}

const WARM_UP = 20

export async function measureResults(
  engine: Engine,
  { workflow }: Workload,
  { runs }: { runs: number },
): Promise<ResultLatencies> {
  const sinceRunMs: number[] = []
  const sinceEndMs: number[] = []
  for (let n = -WARM_UP; n < runs; n += 1) {
    const calledAt = performance.now()
    const run = await engine.run(workflow, undefined)
    await run.result()
    const answeredAt = performance.now()
    const { finishedAt } = await run.status()
    // Random, so that these runs do not synchronise with polling.
    await delay(Math.random() * 20)
    if (n < 0 || finishedAt === undefined) continue
    sinceRunMs.push(answeredAt - calledAt)
    sinceEndMs.push(Math.max(0, performance.timeOrigin + answeredAt - finishedAt.getTime()))
  }
  return { sinceRunMs, sinceEndMs }
}

/** Keeps `inFlight` runs going, each awaited before the next is started. Resolves once all have ended. */
export async function runAndAwait(
  engine: Engine,
  { workflow }: Workload,
  { runs, inFlight }: { runs: number; inFlight: number },
): Promise<{ seconds: number }> {
  const since = performance.now()
  let left = runs
  const next = async () => {
    while (left > 0) {
      left -= 1
      const run = await engine.run(workflow, undefined)
      await run.result()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, next))
  return { seconds: (performance.now() - since) / 1_000 }
}

/** Begins to await the results of runs that have been started. A result that never comes leaves the measurement without an end, which has a limit. */
export function awaitAll(handles: readonly RunHandle[]): void {
  for (const handle of handles) void handle.result().catch(() => {})
}
