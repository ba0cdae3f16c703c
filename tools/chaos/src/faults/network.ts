import { pause } from '../pause.ts'
import type { Seat } from '../supervisor/seat.ts'
import type { Stage } from '../supervisor/stage.ts'
import type { Fault } from './fault.ts'
import { leasesOf } from './leases.ts'

/** A process, of whatever role, without another fault. */
export function someSeat({ fleet, random }: Stage): Seat | undefined {
  const able = fleet.seats.filter(
    ({ child, troubles }) =>
      child?.isReady === true && !child.hasEnded && !child.isFrozen && troubles.size === 0,
  )
  return able.length === 0 ? undefined : random.pick(able)
}

interface NetworkFault {
  readonly name: string
  readonly weight: number
  /** How long it lasts, in milliseconds. `leaseMs` is given for faults that should outlast the lease. */
  readonly lasts: (stage: Stage) => number
  readonly begin: (seat: Seat, stage: Stage) => Promise<void> | void
  readonly end?: (seat: Seat) => Promise<void> | void
}

const BRIEF_MS = 1_500

/** All that a network does to the connections of one process. */
export const NETWORK_FAULTS: readonly Fault[] = [
  networkFault({
    name: 'network slow',
    weight: 2,
    lasts: ({ random }) => random.between(500, 3_000),
    begin: ({ proxy }, { random }) => proxy.delay(random.between(10, 250)),
  }),
  networkFault({ name: 'connections reset', weight: 4, lasts: () => 0, begin: ({ proxy }) => proxy.reset() }),
  networkFault({
    name: 'network silent',
    weight: 4,
    lasts: ({ random, leaseMs }) => Math.round(leaseMs * (0.4 + random.next() * 3.5)),
    begin: ({ proxy }) => proxy.goSilent(),
  }),
  networkFault({
    name: 'answers of COMMIT dropped',
    weight: 3,
    lasts: () => BRIEF_MS,
    begin: ({ proxy }, { random }) => proxy.dropCommits(random.between(1, 4)),
  }),
  networkFault({
    name: 'answers dropped',
    weight: 4,
    lasts: () => BRIEF_MS,
    begin: ({ proxy }, { random }) => proxy.dropReplies(random.between(1, 6)),
  }),
  networkFault({
    name: 'connections refused',
    weight: 3,
    lasts: ({ random, leaseMs }) => random.between(300, 2 * leaseMs),
    begin: ({ proxy }) => proxy.refuse(),
  }),
  networkFault({
    name: 'name not found',
    weight: 3,
    lasts: ({ random, leaseMs }) => random.between(300, 2 * leaseMs),
    begin({ proxy, child }) {
      child?.tell({ type: 'name', found: false })
      // Only a new connection looks the name up.
      proxy.reset()
    },
    end: ({ child }) => child?.tell({ type: 'name', found: true }),
  }),
]

function networkFault({ name, weight, lasts, begin, end }: NetworkFault): Fault {
  return {
    name,
    class: 'network',
    weight,
    async strike(stage) {
      const seat = someSeat(stage)
      const child = seat?.child
      if (seat === undefined || child === undefined) return { what: undefined }
      const leases = seat.role === 'worker' ? await leasesOf(stage.database, child.name) : []
      const ms = lasts(stage)
      seat.troubles.add('network')
      await begin(seat, stage)
      await pause(ms)
      await end?.(seat)
      await seat.proxy.heal()
      seat.troubles.delete('network')
      return { what: `${child.name} for ${ms} ms`, leases }
    },
  }
}
