import { randomBytes } from 'node:crypto'
import type pg from 'pg'

/** A url whose sessions can be identified, and a way to count them. */
export function named(url: string) {
  const name = `belay_${randomBytes(4).toString('hex')}`
  const location = new URL(url)
  location.searchParams.set('application_name', name)
  return {
    url: location.href,
    name,
    /** The server's view of its sessions. */
    async sessions(over: Pick<pg.Pool, 'query'>) {
      const { rows } = await over.query(
        'select pid, state, wait_event, wait_event_type, query from pg_stat_activity where application_name = $1',
        [name],
      )
      return rows as { pid: number; state: string; wait_event: string | null; query: string }[]
    },
  }
}

/** Counts repeatedly until a promise settles; returns the highest count. */
export async function mostWhile(goesOn: Promise<unknown>, count: () => Promise<number>): Promise<number> {
  let isOver = false
  const over = goesOn.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  let most = 0
  while (!isOver) {
    most = Math.max(most, await count())
    // biome-ignore lint/style/noRestrictedGlobals: a pause between two looks at the server.
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  return most
}
