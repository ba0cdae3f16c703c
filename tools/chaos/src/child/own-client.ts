import type pg from 'pg'

/** The application limits its own waits: only the engine's waits are tested. */
const OWN_MS = 5_000

/** Lends the application a connection for a transaction; `part` says how it ends. Rejects, and discards the connection, if anything fails. */
export async function withClient<Result>(
  pool: pg.Pool,
  part: (client: pg.PoolClient) => Promise<{ readonly commits: boolean; readonly result: Result }>,
): Promise<Result> {
  const client = await connected(pool)
  const ignore = () => {}
  client.on('error', ignore)
  let done = false
  try {
    await own(client, 'begin')
    const { commits, result } = await part(client)
    await own(client, commits ? 'commit' : 'rollback')
    done = true
    return result
  } finally {
    if (done) client.off('error', ignore)
    // Never reuse a failed client: its transaction may still be open.
    client.release(!done)
  }
}

/** One of the application's own statements, with a limit. */
export function own(client: pg.PoolClient, text: string, values: readonly unknown[] = []) {
  const bounded: pg.QueryConfig & { readonly query_timeout: number } = {
    text,
    values: [...values],
    query_timeout: OWN_MS,
  }
  return client.query(bounded)
}

/** Waits for a connection up to the limit. A later one goes back to the pool. */
async function connected(pool: pg.Pool): Promise<pg.PoolClient> {
  const connecting = pool.connect()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      connecting.then((client) => client.release()).catch(() => {})
      reject(new Error('The application waited too long for a connection.'))
    }, OWN_MS)
  })
  return Promise.race([connecting, late]).finally(() => clearTimeout(timer))
}
