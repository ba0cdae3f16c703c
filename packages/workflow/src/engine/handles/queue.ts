import type { Adapter, RunStatus } from '../../adapter/index.ts'
import { type CountedByStatus, type CountedRuns, countedByStatus } from '../runs/counted-runs.ts'

/** The largest count. */
const MAX = 1_000

/** What waits in the store, and how many runs are live. */
export interface QueueOverview {
  /** The store's time of these counts. */
  readonly readAt: Date
  /** Steps and undos that a worker with their definition could claim now. */
  readonly ready: {
    /** At most 1,000. */
    readonly count: number
    /** True if there are, or may be, more. */
    readonly capped: boolean
    /** Since when that of them is due which is due for longest. Undefined for none. */
    readonly oldestDueAt: Date | undefined
    /** From then until `readAt`, in milliseconds. 0 for none. */
    readonly oldestAgeMs: number
  }
  /** Runs whose undo failed for good: they wait for an operator. At most 1,000 are counted. */
  readonly parkedUndos: CountedRuns
  /** Runs that have not ended, each status up to 1,000, like `runs.countByStatus()`. Statuses without runs are left out. */
  readonly liveRuns: CountedByStatus
}

const LIVE: readonly RunStatus[] = [
  'scheduled',
  'running',
  'waiting',
  'parked',
  'paused',
  'compensating',
  'compensation_failed',
]

export async function queueOverview(adapter: Adapter): Promise<QueueOverview> {
  await adapter.open()
  const [ready, counts] = await Promise.all([
    adapter.countReady({ max: MAX }),
    adapter.countRuns({ status: LIVE, max: MAX, byStatus: true }),
  ])
  const { at, steps: count, capped, oldestDueAt } = ready
  const liveRuns = countedByStatus(counts)
  return {
    readAt: new Date(at),
    ready: {
      ...{ count, capped },
      oldestDueAt: oldestDueAt === null ? undefined : new Date(oldestDueAt),
      oldestAgeMs: oldestDueAt === null ? 0 : Math.max(0, at - oldestDueAt),
    },
    parkedUndos: liveRuns.compensation_failed ?? { count: 0, capped: false },
    liveRuns,
  }
}
