import { setTimeout as delay } from 'node:timers/promises'
import type { Duration, Engine, WorkflowDefinition } from '@belay/workflow'

export interface SchedulesToPut {
  /** Schedules of one name replace each other. */
  readonly prefix: string
  readonly count: number
  readonly every: Duration
  /** How many are put in one call. */
  readonly batch: number
  /** How many are put in a second, evenly, so that they are due in the same way. Default: as many as possible. */
  readonly perSecond?: number
}

export async function putSchedules(
  engine: Engine,
  workflow: WorkflowDefinition,
  { prefix, count, every, batch, perSecond }: SchedulesToPut,
): Promise<{ seconds: number }> {
  const since = performance.now()
  for (let put = 0; put < count; put += batch) {
    const dueMs = perSecond === undefined ? 0 : since + (put / perSecond) * 1_000 - performance.now()
    if (dueMs > 0) await delay(dueMs)
    const size = Math.min(batch, count - put)
    await engine.schedules.putMany(
      Array.from({ length: size }, (_, n) => ({ name: `${prefix}:${put + n}`, every, workflow })),
    )
  }
  return { seconds: (performance.now() - since) / 1_000 }
}
