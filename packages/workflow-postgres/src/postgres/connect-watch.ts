import type { Pool } from 'pg'
import { connectingClients, endSocket } from './pool.ts'

const watched = new WeakSet<Pool>()

/**
 * Closes the connections of a pool that got no answer from the server for a whole period, until none is being opened and nobody waits for one. A pool
 * without a limit of its own counts such a connection for ever, also one that it opened for a caller who has given up since. Does nothing if the pool
 * is watched already. Its timer does not keep the process alive.
 */
export function watchConnects(pool: Pool, periodMs: number): void {
  if (watched.has(pool)) return
  watched.add(pool)
  let before = new Set(connectingClients(pool))
  const look = () => {
    const connecting = connectingClients(pool)
    connecting.filter((client) => before.has(client)).forEach(endSocket)
    before = new Set(connecting)
    // A connection that was just closed makes room for one that is not there yet.
    if (connecting.length > 0 || pool.waitingCount > 0) return later()
    watched.delete(pool)
  }
  const later = () => {
    setTimeout(look, periodMs).unref()
  }
  later()
}
