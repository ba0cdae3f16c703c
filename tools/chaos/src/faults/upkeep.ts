import { POOL_MAX } from '../child/protocol.ts'
import { pause, until } from '../pause.ts'
import { LEAVE_MS } from '../supervisor/fleet.ts'
import type { Fault } from './fault.ts'
import { someWorker } from './kill.ts'
import { leasesOf } from './leases.ts'

const BURST_MS = 20_000
const VISIT_MS = 60_000

/** The application holds every connection of its Pool. */
export const exhaustPool: Fault = {
  name: 'pool exhausted',
  class: 'pool',
  weight: 4,
  async strike({ fleet, random, database }) {
    const able = fleet.seats.filter(
      ({ pool, child, troubles }) =>
        pool === 'application' && child?.isReady === true && !child.hasEnded && troubles.size === 0,
    )
    if (able.length === 0) return { what: undefined }
    const seat = random.pick(able)
    const leases = await leasesOf(database, seat.child?.name ?? '')
    const ms = random.between(500, 6_000)
    seat.troubles.add('pool')
    seat.child?.tell({ type: 'exhaust', ms })
    await pause(ms)
    seat.troubles.delete('pool')
    return { what: `of ${seat.child?.name} for ${ms} ms`, leases }
  },
}

/** A fresh process makes more starts in transactions at once than its Pool has connections, in the documented way. */
export const burst: Fault = {
  name: 'burst in a fresh process',
  class: 'pool',
  weight: 2,
  async strike({ fleet, complain }) {
    const seat = await fleet.visit()
    // How long a process takes to come up is not the engine's.
    await until(VISIT_MS, 50, () => seat.child?.isReady === true)
    const began = performance.now()
    const isDone = await until(BURST_MS, 100, () => seat.started >= 2 * POOL_MAX)
    const ms = Math.round(performance.now() - began)
    if (!isDone)
      complain({
        kind: 'call_hangs',
        sentence: `${2 * POOL_MAX} starts with { tx } at once, in the fresh process ${seat.child?.name} with a Pool of ${POOL_MAX}: only ${seat.started} had ended after ${BURST_MS} ms.`,
      })
    await fleet.endVisit(seat)
    return { what: `${seat.started} of ${2 * POOL_MAX} starts within ${ms} ms` }
  },
}

/** A worker leaves in order and another release takes its place: version 2 beside version 1, or back to version 1 alone. */
export const deploy: Fault = {
  name: 'release deployed',
  class: 'deploy',
  weight: 2,
  async strike(stage) {
    const seat = someWorker(stage)
    const child = seat?.child
    if (seat === undefined || child === undefined) return { what: undefined }
    const others = stage.fleet.workers.filter((worker) => worker !== seat)
    // Some worker must be able to run version 2 once there are runs of it.
    const mayGoBack = seat.version === 'both' && others.some(({ version }) => version === 'both')
    seat.version = mayGoBack ? 'v1' : 'both'
    seat.troubles.add('deploy')
    if (!(await stage.fleet.vacate(seat))) {
      const sentence = `${child.name} was told to leave, with two seconds for its handlers, and had not left after ${LEAVE_MS} ms.`
      stage.complain({ kind: 'close_hangs', sentence })
    }
    seat.troubles.delete('deploy')
    stage.fleet.seat(seat)
    return { what: `${child.name} makes way for ${seat.version === 'v1' ? 'version 1' : 'versions 1 and 2'}` }
  },
}

/** Deletes runs that have just ended, and keeps a copy of them for the oracle. */
export const prune: Fault = {
  name: 'runs pruned',
  class: 'prune',
  weight: 1,
  async strike({ engine, archive }) {
    const { pruned } = await engine.prune({
      // Longer than any caller repeats a start whose answer was lost: a key stays taken only while its run is kept.
      olderThan: '30s',
      limit: 500,
      archive: (runs) => {
        for (const run of runs) archive.set(run.id, run)
      },
    })
    return { what: `${pruned}` }
  },
}
