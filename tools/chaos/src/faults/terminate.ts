import { pause, untilDone } from '../pause.ts'
import type { Fault } from './fault.ts'
import { someSeat } from './network.ts'

const WATCH_COMMITS_MS = 1_500
const REPEATED = 40
const REPEATED_MS = 25
const STUCK_MS_MAX = 4_500

/** Like an administrator, or a failover's fencing: terminates backends of a process in the middle of their work. */
export const terminateBackends: Fault = {
  name: 'backends terminated',
  class: 'terminate',
  weight: 4,
  async strike(stage) {
    const name = someSeat(stage)?.child?.name
    if (name === undefined) return { what: undefined }
    const share = stage.random.pick([0.3, 1])
    const { rowCount } = await stage.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and random() < $2`,
      [name, share],
    )
    return { what: `${rowCount} of ${name}` }
  },
}

/** Repeatedly, so that some backends end just after they began. */
export const terminateRepeatedly: Fault = {
  name: 'backends terminated for a while',
  class: 'terminate',
  weight: 2,
  async strike(stage) {
    const name = someSeat(stage)?.child?.name
    if (name === undefined) return { what: undefined }
    let terminated = 0
    for (let times = 0; times < REPEATED; times += 1) {
      const { rowCount } = await stage.database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
        [name],
      )
      terminated += rowCount ?? 0
      await pause(REPEATED_MS)
    }
    return { what: `${terminated} of ${name}` }
  },
}

/** Terminates a backend just after its COMMIT was sent: it may have been recorded, or not. */
export const terminateAtCommit: Fault = {
  name: 'backends terminated at COMMIT',
  class: 'terminate',
  weight: 3,
  async strike(stage) {
    const seat = someSeat(stage)
    if (seat === undefined) return { what: undefined }
    let terminated = 0
    seat.proxy.watchCommits((pid) => {
      if (terminated >= 3) return
      terminated += 1
      stage.database.query('select pg_terminate_backend($1)', [pid]).catch(() => {})
    })
    await pause(WATCH_COMMITS_MS)
    seat.proxy.watchCommits(undefined)
    return { what: terminated === 0 ? undefined : `${terminated} of ${seat.child?.name}` }
  },
}

/**
 * Commits hang, as with a synchronous standby that is gone, and some of the hanging backends are terminated: their work is recorded, but their
 * clients get an error that the connection was lost.
 */
export const stickCommits: Fault = {
  name: 'commits stuck',
  class: 'terminate',
  weight: 2,
  isAlone: true,
  async strike(stage) {
    const { database, random } = stage
    const ms = random.between(300, STUCK_MS_MAX)
    stage.troubles.add('commits')
    let ended = 0
    try {
      await database.query(`alter system set synchronous_standby_names = 'nobody'`)
      await database.query('select pg_reload_conf()')
      await pause(ms / 2)
      const { rowCount } = await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and random() < 0.4`,
      )
      ended = rowCount ?? 0
      await pause(ms / 2)
    } finally {
      await untilDone(() => database.query('alter system reset synchronous_standby_names'))
      await untilDone(() => database.query('select pg_reload_conf()'))
      stage.troubles.delete('commits')
    }
    return { what: `for ${ms} ms, ${ended} backends terminated in them` }
  },
}
