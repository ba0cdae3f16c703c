import type { Stillness } from '../adapter/stillness.ts'
import { idlingOf, Loop, type LoopOptions, NEVER, NOW } from '../engine/base/loop.ts'
import type { Worker } from './worker.ts'

/** A sweep each half of a lease, but not more often. */
const SWEEP_MIN_MS = 500

export interface LoopsParts {
  readonly owner: Worker
  readonly tickMs: number
  readonly stillness: Stillness | undefined
  readonly tick: () => Promise<void>
  readonly sweep: () => Promise<void>
}

/** What an owner does at intervals. Each loop tells a virtual clock until when its rounds would find nothing. */
export function openLoops({ owner, tickMs, stillness, tick, sweep }: LoopsParts): readonly Loop[] {
  const { leaseMs } = owner
  const renew = async () => {
    await owner.lease.renew()
    const { worker } = owner.identity
    stillness?.trust(String(worker), () => lease.isResting && owner.identity.worker === worker)
  }
  const isBusy = () => owner.handlers.busy > 0
  const lease: Loop = loopOf(owner, leaseMs / 3, {
    work: renew,
    idling: stillness && { stillness, until: () => NEVER, catchesUp: true, isBusy },
  })
  return [
    loopOf(owner, tickMs, { work: tick, idling: idlingOf(stillness, (still) => nextTick(owner, still)) }),
    lease,
    loopOf(owner, Math.max(SWEEP_MIN_MS, leaseMs / 2), {
      work: sweep,
      idling: idlingOf(stillness, (still) => still.lapsesAt()),
    }),
  ]
}

function loopOf(
  { clock, log }: Worker,
  intervalMs: number,
  options: Pick<LoopOptions, 'work' | 'idling'>,
): Loop {
  const onError = (error: unknown) => {
    log.warn('A worker could not reach its store. It tries again.', { error })
    return intervalMs
  }
  return new Loop({ clock, intervalMs, onError, ...options })
}

/** When a tick finds something, unless the store changes before. */
function nextTick({ owned, slots, codes }: Worker, stillness: Stillness): number {
  for (const { flights, run } of owned.values())
    for (const { unit, serial, phase } of flights.values())
      if (run.units[unit]?.written !== serial && phase !== 'body') return NOW
  return slots === 0 ? NEVER : stillness.claimableAt([...codes.keys()])
}
