import { pause } from '../pause.ts'
import { descendants } from '../supervisor/descendants.ts'
import type { Stage } from '../supervisor/stage.ts'
import type { Fault } from './fault.ts'

/** SIGKILL to every process of PostgreSQL: it recovers from its log. */
export const crashServer: Fault = {
  name: 'server crashed',
  class: 'server',
  weight: 2,
  isAlone: true,
  async strike({ server }) {
    await server.crash()
    return { what: '' }
  },
}

/** An orderly shutdown, and a start a moment later, which looks like a failover. */
export const restartServer: Fault = {
  name: 'server restarted',
  class: 'server',
  weight: 1,
  isAlone: true,
  async strike({ server, random }) {
    const ms = random.between(100, 2_500)
    await server.restart({ whileDown: () => pause(ms) })
    return { what: `down for ${ms} ms` }
  },
}

/** SIGSTOP to every process of PostgreSQL: connections stay open, and nothing answers. */
export const freezeServer: Fault = {
  name: 'server frozen',
  class: 'server',
  weight: 2,
  isAlone: true,
  async strike({ server, random, leaseMs, guard }: Stage) {
    const ms = Math.round(leaseMs * (0.3 + random.next() * 3))
    server.freeze()
    guard.frozen(descendants(process.pid))
    await pause(ms)
    server.thaw()
    guard.thawed()
    return { what: `for ${ms} ms` }
  },
}
