import type { Logger } from '../../logger.ts'
import type { EventHub } from '../base/events.ts'
import { idlingOf, type Loop, NEVER, NOW } from '../base/loop.ts'
import type { Meter } from '../base/meter.ts'
import { OutageWatch, watchedLoop } from '../base/outage.ts'
import { stillnessOf } from '../base/runtime.ts'
import type { WorkerLoops } from './depart.ts'
import { DueWatch, type DueWatchParts } from './due-watch.ts'
import type { Housekeeper } from './housekeeper.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Crowd } from './peers.ts'
import { RunEnds, type RunEndsParts } from './run-ends.ts'
import type { Sagas } from './saga.ts'
import type { Session } from './session.ts'

/** The longest interval between two rounds of housekeeping, whatever the tick. */
const HOUSEKEEPING_MS = 1_000

export interface LoopsParts
  extends Pick<DueWatchParts, 'adapter' | 'runtime' | 'tickMs' | 'onDue' | 'onExpired' | 'fireSchedules'>,
    Pick<RunEndsParts, 'definitions' | 'endFollowers' | 'aside'> {
  readonly log: Logger
  readonly events: EventHub
  readonly meter: Meter
  readonly concurrency: number
  readonly crowd: Crowd
  readonly keeper: LeaseKeeper
  readonly housekeeper: Housekeeper
  readonly sagas: Sagas
  readonly session: () => Session
  /** One round of claiming, and one of beginning undos. */
  readonly claim: () => Promise<void>
  readonly advanceSagas: () => Promise<void>
}

type WatchParts = Pick<LoopsParts, 'log' | 'events' | 'runtime' | 'meter' | 'aside'>

export function outageWatch({ log, events, runtime, meter, aside }: WatchParts, during: string): OutageWatch {
  return new OutageWatch({ during, log, events, random: runtime.random, meter, aside })
}

/** A worker's loops. Each tells a virtual clock until when its rounds would find nothing. */
export function openLoops(parts: LoopsParts): WorkerLoops {
  const { adapter, runtime, tickMs, crowd, keeper, housekeeper, session } = parts
  const housekeepingMs = Math.max(tickMs, HOUSEKEEPING_MS)
  const shared = (aloneMs: number) => () => crowd.shared(aloneMs)
  const stillness = stillnessOf(adapter, runtime)
  const loop = (during: string, options: Omit<Parameters<typeof watchedLoop>[2], 'mayRest'>): Loop =>
    watchedLoop(runtime.clock, outageWatch(parts, during), options)
  return {
    due: dueWatch(parts, housekeepingMs),
    ends: runEnds(parts, shared(housekeepingMs)),
    lease: leaseLoop(parts),
    reconcile: loop('comparing leases', {
      intervalMs: () => keeper.comparingMs,
      work: () => keeper.compare(),
      idling: idlingOf(stillness, () => (keeper.foundDifference ? NOW : NEVER)),
    }),
    claim: loop('claiming', {
      intervalMs: shared(tickMs),
      work: parts.claim,
      idling: idlingOf(stillness, (still) =>
        session().capacity.window.isOpenTo(parts.concurrency) ? still.claimableAt(idsOf(parts)) : NOW,
      ),
    }),
    saga: loop('beginning undos', {
      intervalMs: shared(housekeepingMs),
      work: parts.advanceSagas,
      idling: idlingOf(stillness, () => (parts.sagas.hasLookedAtAll ? NEVER : NOW)),
    }),
    housekeeping: loop('housekeeping', {
      intervalMs: housekeepingMs,
      work: () => housekeeper.look(session()),
      idling: idlingOf(stillness, (still) =>
        housekeeper.hasAskedForAll(session()) ? still.lapsesAt() : NOW,
      ),
    }),
  }
}

function idsOf({ definitions }: Pick<LoopsParts, 'definitions'>): readonly number[] {
  return [...definitions.keys()]
}

/** Renewals that a virtual clock leaves out are made up for by one, before anybody looks at the lease. */
function leaseLoop(parts: LoopsParts): Loop {
  const { adapter, runtime, keeper, session } = parts
  const stillness = stillnessOf(adapter, runtime)
  const loop: Loop = watchedLoop(runtime.clock, outageWatch(parts, 'renewing the lease'), {
    intervalMs: keeper.renewalMs,
    work: async () => {
      await keeper.renew()
      const { workerId } = session()
      const isSure = () => loop.isResting && session().workerId === workerId
      stillness?.trust(workerId, () => !Number.isNaN(stillness.changes) && isSure())
    },
    idling: stillness && {
      stillness,
      until: () => NEVER,
      catchesUp: true,
      isBusy: () => session().attempts.size > 0,
    },
  })
  return loop
}

function dueWatch(parts: LoopsParts, housekeepingMs: number): DueWatch {
  const { adapter, runtime, crowd } = parts
  return new DueWatch({
    ...parts,
    outage: outageWatch(parts, 'looking for what is due'),
    horizonMs: housekeepingMs,
    intervalMs: () => crowd.shared(housekeepingMs),
    idling: idlingOf(
      stillnessOf(adapter, runtime),
      (still) =>
        Math.min(still.claimableAt(idsOf(parts)), still.deadlineAt(), still.scheduleAt()) - housekeepingMs,
    ),
  })
}

function runEnds(parts: LoopsParts, intervalMs: () => number): RunEnds {
  const { adapter, runtime } = parts
  const ends: RunEnds = new RunEnds({
    ...parts,
    outage: outageWatch(parts, 'following the ends of runs'),
    intervalMs,
    idling: idlingOf(stillnessOf(adapter, runtime), () => (ends.hasFoundNone ? NEVER : NOW)),
  })
  return ends
}
