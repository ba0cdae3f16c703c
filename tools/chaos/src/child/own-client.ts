import type pg from 'pg'

/** The application bounds its own waits: only those of the engine's are under test. */
const OWN_MS = 5_000

/** A connection of the application's for a transaction; the part says how it ends. Rejects, and gives the connection up, when anything fails. */
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
    // A client that failed is not to be used again: its transaction may still be open.
    client.release(!done)
  }
}

/** A statement of the application's own, bounded. */
export function own(client: pg.PoolClient, text: string, values: readonly unknown[] = []) {
  const bounded: pg.QueryConfig & { readonly query_timeout: number } = {
    text,
    values: [...values],
    query_timeout: OWN_MS,
  }
  return client.query(bounded)
}

/** Waits for a connection no longer than that; one that comes later goes back. */
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
