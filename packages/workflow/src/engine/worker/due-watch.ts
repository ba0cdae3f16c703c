import type { Adapter, ChangedRun } from '../../adapter/index.ts'
import type { Timer } from '../../clock.ts'
import type { Idling, Loop } from '../base/loop.ts'
import { type OutageWatch, watchedLoop } from '../base/outage.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'

/** The most runs that one statement expires. */
const EXPIRE_MAX = 500
/** The shortest time between two looks caused by alarms: timers that are due close together share one. */
const SPACING_MS = 20

export interface DueWatchParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly outage: OutageWatch
  readonly aside: SetAside
  readonly tickMs: number
  /** How far ahead alarms are set. */
  readonly horizonMs: number
  /** The time from one look to the next without alarms: the horizon, or more if other workers look too. */
  readonly intervalMs: () => number
  readonly definitions: ReadonlyMap<number, unknown>
  /** A step has become claimable. */
  readonly onDue: () => void
  /** Fires the schedules that are due. Resolves to whether one of them changed. */
  readonly fireSchedules: () => Promise<boolean>
  readonly onExpired: (runs: readonly ChangedRun[]) => void
  readonly idling: Idling | undefined
}

/**
 * Wakes the worker when a timer is due, fails runs whose deadline has passed, and fires schedules. It rarely asks the store for the next due time, and sets an alarm
 * for it. So timers are precise to the millisecond, and a store with a million sleeping runs is queried no more often than an empty one.
 */
export class DueWatch {
  readonly #parts: DueWatchParts
  readonly #loop: Loop
  #alarm: Timer | undefined
  #hinted: Timer | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(parts: DueWatchParts) {
    this.#parts = parts
    const { runtime, outage, intervalMs, idling } = parts
    this.#loop = watchedLoop(runtime.clock, outage, { intervalMs, idling, work: () => this.#look() })
  }

  wake(): void {
    this.#loop.wake()
  }

  /** A run was started or a step began to wait, and may be due soon: looks, but at most once a tick. */
  hint(): void {
    if (this.#hinted !== undefined || this.#stopped) return
    const { clock } = this.#parts.runtime
    const waitMs = Math.max(0, this.#lookedAt + this.#parts.tickMs - clock.now())
    this.#hinted = clock.after(waitMs, () => {
      this.#hinted = undefined
      this.#loop.wake()
    })
  }

  stop(): Promise<void> {
    this.#stopped = true
    this.#alarm?.cancel()
    this.#hinted?.cancel()
    return this.#loop.stop()
  }

  async #look(): Promise<void> {
    const { adapter, definitions, runtime } = this.#parts
    const definitionIds = [...definitions.keys()]
    this.#lookedAt = runtime.clock.now()
    const { claimInMs, deadlineInMs, scheduleInMs } = await adapter.upcoming({ definitionIds })
    if (deadlineInMs !== null && deadlineInMs <= 0) await this.#apart('deadlines', () => this.#expire())
    // The next ones may be due before the next look.
    if (scheduleInMs !== null && scheduleInMs <= 0)
      await this.#apart('schedules', async () => {
        if (await this.#parts.fireSchedules()) this.hint()
      })
    // Overdue steps and runs were just handled; set the alarm for the next due time.
    const next = [claimInMs, deadlineInMs, scheduleInMs].filter(
      (inMs) => inMs !== null && inMs > 0,
    ) as number[]
    this.#setAlarm(Math.min(...next))
  }

  /** Deadlines that cannot be read keep no schedule waiting, and neither of them the timers. */
  async #apart(name: string, work: () => Promise<void>): Promise<void> {
    await this.#parts.aside.attempt({ during: 'looking for what is due', name }, work)
  }

  async #expire(): Promise<void> {
    const { adapter, aside } = this.#parts
    const expired = await adapter.expireRuns({
      limit: EXPIRE_MAX,
      onRefused: ({ runId, error }) => void aside.refused({ during: 'ending overdue runs', runId }, error),
    })
    if (expired.length > 0) await this.#parts.onExpired(expired)
    // There may be more, so look again.
    if (expired.length > 0) this.hint()
  }

  #setAlarm(inMs: number): void {
    this.#alarm?.cancel()
    // By then this worker, or another, will have looked again.
    if (inMs > this.#parts.horizonMs || this.#stopped) return
    this.#alarm = this.#parts.runtime.clock.after(Math.max(SPACING_MS, Math.ceil(inMs)), () => {
      this.#parts.onDue()
      this.#loop.wake()
    })
  }
}
