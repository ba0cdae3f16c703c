import type { Meter } from '../base/meter.ts'
import type { Session } from './session.ts'

/** What this engine's worker is doing at one moment, from memory. */
export interface Gauges {
  /** `stopping`: it claims nothing more, and handlers may still run. */
  readonly state: 'stopped' | 'starting' | 'started' | 'stopping'
  /** The most handlers that run at once: the option `concurrency`. */
  readonly slots: number
  /** Handlers that run in these slots. */
  readonly busy: number
  /** Slots beyond these, for undos alone: the option `undoSlots`. */
  readonly undoSlots: number
  /** Undos that run beyond the slots. */
  readonly undosBusy: number
  /** Claimed attempts that have not begun: they wait for a slot, or read their payloads. */
  readonly waitingForSlots: number
  /** Ended attempts whose outcome is in no call to the store yet. Above 2,000 the worker claims nothing more. */
  readonly unsentOutcomes: number
  /** Outcomes in one call to the store: in the last call that was answered, and in the largest since the engine was made. 0 before the first; at most 500. */
  readonly batch: { readonly last: number; readonly max: number }
  /** How long the last answered calls took, with the wait for a connection, in milliseconds. Undefined before the first. */
  readonly storeLatencyMs: { readonly settle: number | undefined; readonly claim: number | undefined }
  /**
   * Since when the store has answered none of the worker's claims, outcomes and renewals, by the clock of this process. Undefined if it answered the
   * last one, and without a worker. An idle worker notices within a tick.
   */
  readonly outageSince: Date | undefined
}

export interface GaugedWorker {
  readonly state: Gauges['state']
  /** Undefined if no worker runs. */
  readonly session: Session | undefined
}

export interface GaugedParts extends GaugedWorker {
  readonly concurrency: number
  readonly undoSlots: number
  readonly meter: Meter
}

export function gaugesOf({ state, concurrency, undoSlots, meter, session }: GaugedParts): Gauges {
  const performing = session?.attempts.performer.performing ?? 0
  const { batchLast, batchMax, settleMs, claimMs, outageMs } = meter
  return {
    state,
    slots: concurrency,
    busy: Math.min(performing, concurrency),
    undoSlots,
    undosBusy: Math.max(0, performing - concurrency),
    waitingForSlots: Math.max(0, (session?.capacity.taken ?? 0) - performing),
    unsentOutcomes: session?.attempts.unsent ?? 0,
    batch: { last: batchLast, max: batchMax },
    storeLatencyMs: { settle: settleMs ?? undefined, claim: claimMs ?? undefined },
    outageSince: outageMs === null || session === undefined ? undefined : new Date(Date.now() - outageMs),
  }
}
