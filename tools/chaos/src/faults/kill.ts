import { pause } from '../pause.ts'
import type { Seat } from '../supervisor/seat.ts'
import type { Stage } from '../supervisor/stage.ts'
import type { Fault, LeasedStep, Struck } from './fault.ts'
import { leasesOf } from './leases.ts'

/** SIGKILL, and another process in its place a little later. */
export const killWorker: Fault = {
  name: 'worker killed',
  class: 'kill',
  weight: 10,
  strike: (stage, gone) => kill(stage, someWorker(stage), gone),
}

export const killTrigger: Fault = {
  name: 'trigger killed',
  class: 'kill',
  weight: 2,
  strike: (stage, gone) => kill(stage, stage.fleet.trigger, gone),
}

/** SIGSTOP past the lease, then SIGCONT. */
export const freezeWorker: Fault = {
  name: 'worker frozen',
  class: 'freeze',
  weight: 7,
  async strike(stage, gone) {
    const seat = someWorker(stage)
    const child = seat?.child
    if (seat === undefined || child === undefined || child.isFrozen) return { what: undefined }
    const leases = await leasesOf(stage.database, child.name)
    if (child.hasEnded) return { what: undefined }
    const ms = Math.round(stage.leaseMs * (0.7 + stage.random.next() * 2.3))
    seat.troubles.add('frozen')
    child.freeze()
    // Other workers take over meanwhile. If it was stopped for less than its lease, it continues itself.
    gone(leases)
    await pause(ms)
    if (!child.hasEnded) child.thaw()
    seat.troubles.delete('frozen')
    return { what: `${child.name} for ${ms} ms` }
  },
}

/** A worker with a working process and no other fault. */
export function someWorker({ fleet, random }: Stage): Seat | undefined {
  const able = fleet.workers.filter(
    ({ child, troubles }) =>
      child?.isReady === true && !child.hasEnded && !child.isFrozen && troubles.size === 0,
  )
  return able.length === 0 ? undefined : random.pick(able)
}

async function kill(
  stage: Stage,
  seat: Seat | undefined,
  gone: (leases: readonly LeasedStep[]) => void,
): Promise<Struck> {
  const child = seat?.child
  if (seat === undefined || child === undefined || child.hasEnded || !child.isReady)
    return { what: undefined }
  const leases = seat.role === 'worker' ? await leasesOf(stage.database, child.name) : []
  if (child.hasEnded) return { what: undefined }
  await child.kill()
  gone(leases)
  await pause(stage.random.between(0, 1_000))
  stage.fleet.seat(seat)
  return { what: child.name }
}
