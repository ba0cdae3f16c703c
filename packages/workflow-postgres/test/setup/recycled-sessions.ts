import type pg from 'pg'

/**
 * Makes a pool keep the sessions that Belay's lifelines leave, as a pooler in session mode would: reset, but with what they have prepared. A closed adapter
 * gives back the session that it took first, and that is the one with all the plans: without this each test would plan its statements anew, which takes half
 * of a short test's time. Sessions that are broken or busy are ended as usual.
 */
export function recycleSessions(pool: pg.Pool): void {
  // The pool sets the client's release() after it has told of the client.
  pool.on('acquire', (client) => queueMicrotask(() => recycleWhenReleased(client, pool)))
}

const RESET = `reset session authorization; reset role; reset all; close all; unlisten *; discard temp; select pg_advisory_unlock_all()`

/** What pg knows of a client, beside its types. */
interface State {
  readonly readyForQuery: boolean
  readonly _queryable: boolean
}

function recycleWhenReleased(client: pg.PoolClient, pool: pg.Pool): void {
  const release = client.release
  client.release = (cause) => {
    const { readyForQuery, _queryable } = client as unknown as State
    if (cause !== true || !readyForQuery || !_queryable || pool.ending) return release.call(client, cause)
    client.query(RESET).then(
      () => release.call(client),
      (error: Error) => release.call(client, error),
    )
  }
}
