import type { EventEmitter } from 'node:events'
import type pg from 'pg'

/**
 * Makes a pool keep the sessions that Belay's lifelines leave, as a pooler in session mode would: reset, but with what they have prepared. A closed adapter
 * gives back the session that it took first, and that is the one with all the plans: without this each test would plan its statements anew, which takes half
 * of a short test's time. Sessions that are broken or busy are ended as usual.
 */
export function recycleSessions(pool: pg.Pool): void {
  pool.on('acquire', (client) => {
    const before = listenersOf(client)
    // The pool sets the client's release() after it has told of the client.
    queueMicrotask(() => recycleWhenReleased(client, pool, before))
  })
}

const RESET = `reset session authorization; reset role; reset all; close all; unlisten *; discard temp; select pg_advisory_unlock_all()`

/** What pg knows of a client, beside its types. */
interface State {
  readonly readyForQuery: boolean
  readonly _queryable: boolean
}

function recycleWhenReleased(client: pg.PoolClient, pool: pg.Pool, before: ReadonlySet<unknown>): void {
  const release = client.release
  client.release = (cause) => {
    const { readyForQuery, _queryable } = client as unknown as State
    if (cause !== true || !readyForQuery || !_queryable || pool.ending) return release.call(client, cause)
    client.query(RESET).then(
      () => {
        forgetListeners(client, before)
        release.call(client)
      },
      (error: Error) => release.call(client, error),
    )
  }
}

type Listener = (...args: unknown[]) => void

const EVENTS = ['error', 'end', 'notification', 'notice'] as const

function listenersOf(client: EventEmitter): ReadonlySet<unknown> {
  return new Set(EVENTS.flatMap((event) => client.rawListeners(event)))
}

/** Those of a client's last user: nobody removes the listeners of a client that is about to end. */
function forgetListeners(client: EventEmitter, before: ReadonlySet<unknown>): void {
  for (const event of EVENTS) {
    const added = client.rawListeners(event).filter((listener) => !before.has(listener))
    for (const listener of added) client.removeListener(event, listener as Listener)
  }
}
