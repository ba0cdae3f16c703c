import { startPostgres } from '@belay/postgres-server'
import type { TestProject } from 'vitest/node'

export interface Server {
  readonly name: string
  readonly url: string
}

declare module 'vitest' {
  interface ProvidedContext {
    servers: readonly Server[]
  }
}

/** Starts the servers once for all test files. With DATABASE_URL set, the tests use only that server. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['DATABASE_URL']
  if (given !== undefined) {
    project.provide('servers', [{ name: 'DATABASE_URL', url: given }])
    return async () => {}
  }
  const [newest, oldest] = await Promise.all([startPostgres({ major: 18 }), startPostgres({ major: 14 })])
  project.provide('servers', [
    { name: 'PostgreSQL 18', url: newest.url },
    { name: 'PostgreSQL 14', url: oldest.url },
  ])
  return async () => {
    await Promise.all([newest.stop(), oldest.stop()])
  }
}
