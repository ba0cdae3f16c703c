import type { Adapter, LimitLine } from '../../adapter/index.ts'
import type { EventHub } from '../base/events.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import { forwardRuns } from './known-attempts.ts'
import type { OlderRuns } from './older-runs.ts'
import type { Crowd } from './peers.ts'
import type { Session } from './session.ts'

/** The most steps that one sweep returns to the queue. */
const SWEEP_MAX = 1_000
/** The longest interval between two sweeps for dead workers. A tenth of the lease if that is shorter, so that they are noticed within a lease. */
const SWEEP_MS = 3_000
/** How often the limits are looked at, by one of the workers. */
const TEND_MS = 500
/** How often also those slots are looked at for which nobody waits, by one of the workers. */
const TEND_ALL_MS = 5_000
/** Until the next look at the limits passes at least this many times the duration of the last: with very many of them, that is a tenth of the time. */
const TEND_REST = 10
/** But no longer than this: keys that are due wait for it, and those of a limit that was changed. */
const TEND_REST_MAX_MS = 2_000
/** How many lines of waiting steps one look at the limits covers. */
const LINES_MAX = 500
/** A handler that runs for longer than this may belong to a run that another process has stopped. */
const LONG_MS = 500

const ASKING = 'asking whether other processes stopped a run'
const TENDING = 'giving free slots to steps that wait'
const CANCELLING = 'looking for older runs'
const SWEEPING = 'returning the steps of a dead worker to the queue'

export interface HousekeeperParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly events: EventHub
  readonly aside: SetAside
  readonly crowd: Crowd
  readonly leaseMs: number
  readonly keepAttempts: boolean
  /** Whether one of its definitions has limits. */
  readonly hasLimits: boolean
  readonly older: OlderRuns
  /** Other processes stopped these runs. */
  readonly onStopped: (runIds: readonly string[]) => void
  /** Steps of dead workers went back to the queue. */
  readonly onRecovered: (steps: Awaited<ReturnType<Adapter['sweep']>>['recovered']) => void
  /** Steps that waited for slots were queued. */
  readonly onQueued: () => void
  /** Whether the worker stops. */
  readonly isStopping: () => boolean
}

/** Notices what other processes did: runs they stopped, and workers that died. */
export class Housekeeper {
  readonly #parts: HousekeeperParts
  #sweepsAt = 0
  /** The line up to which it has looked for free slots; null at the end of a round. */
  #tendedTo: LimitLine | null = null
  #tendsAt = 0
  #tendsAllAt = 0
  /** It was not yet time to look at the limits again, and at all slots. */
  #hasToTend = false
  /** Of attempts that began before this, it has asked whether their runs were stopped. */
  #askedBefore = Number.NEGATIVE_INFINITY

  constructor(parts: HousekeeperParts) {
    this.#parts = parts
  }

  /** Whether no attempt is so new that the last look left it out, and no line of waiting steps. */
  hasAskedForAll({ attempts }: Session): boolean {
    if (this.#hasToTend || this.#tendedTo !== null || !this.#parts.older.isComplete) return false
    const asked = forwardRuns(attempts, this.#askedBefore)
    return forwardRuns(attempts, Number.POSITIVE_INFINITY).length === asked.length
  }

  async look({ attempts }: Session): Promise<void> {
    const { adapter, runtime, aside, onStopped } = this.#parts
    this.#askedBefore = runtime.clock.now() - LONG_MS
    const runIds = forwardRuns(attempts, this.#askedBefore)
    await aside.each(runIds, {
      subjectOf: (runId) => ({ during: ASKING, runId }),
      work: async (part) => onStopped(await adapter.stopping({ runIds: part })),
    })
    await this.#sweep()
    const { older, hasLimits } = this.#parts
    // What the store refuses here keeps no dead worker's steps waiting.
    if (older.hasParked)
      await aside.attempt({ during: CANCELLING, name: 'limits' }, () => older.lookAtParked())
    if (hasLimits) await aside.attempt({ during: TENDING, name: 'limits' }, () => this.#tend())
  }

  /** Finds slots that a process left behind which died. One of the workers is enough. */
  async #tend(): Promise<void> {
    const { adapter, runtime, aside, crowd, older, onQueued } = this.#parts
    const now = runtime.clock.now()
    const allSlots = now >= this.#tendsAllAt
    this.#hasToTend = now < this.#tendsAt || !allSlots
    if (now < this.#tendsAt) return
    this.#tendsAt = now + crowd.shared(TEND_MS)
    if (older.hasLimits) await older.lookAtAll()
    const { queued, after } = await adapter.tendLimits({
      ...{ after: this.#tendedTo, limit: LINES_MAX, allSlots },
      onRefused: ({ limit, key, error }) =>
        void aside.refused({ during: TENDING, name: `key "${key}" of limit "${limit}"` }, error),
    })
    const restMs = TEND_REST * (runtime.clock.now() - now)
    this.#tendsAt = Math.max(this.#tendsAt, now + Math.min(restMs, TEND_REST_MAX_MS))
    if (allSlots) this.#tendsAllAt = now + Math.max(crowd.shared(TEND_ALL_MS), TEND_REST * restMs)
    this.#tendedTo = after
    if (queued) onQueued()
  }

  async #sweep(): Promise<void> {
    const { adapter, runtime, events, aside, crowd, leaseMs, keepAttempts, onRecovered, isStopping } =
      this.#parts
    const now = runtime.clock.now()
    if (now < this.#sweepsAt) return
    this.#sweepsAt = now + Math.min(leaseMs / 2, crowd.shared(Math.min(SWEEP_MS, leaseMs / 10)))
    for (;;) {
      const swept = await adapter.sweep({
        ...{ limit: SWEEP_MAX, keepAttempts },
        onRefused: ({ runId, error }) => void aside.refused({ during: SWEEPING, runId }, error),
      })
      aside.acceptedRuns(SWEEPING, swept.recovered)
      for (const workerId of swept.lostWorkers) events.emit('worker.lost', { workerId })
      if (swept.recovered.length > 0) onRecovered(swept.recovered)
      if (!swept.more || isStopping()) return
    }
  }
}
