import { startPostgres } from '@belay/postgres-server'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
  }
}

/** Starts PostgreSQL 18 once for all test files, unless DATABASE_URL names a server. */
export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['DATABASE_URL']
  if (given !== undefined) {
    project.provide('serverUrl', given)
    return async () => {}
  }
  // Each example of a help has a shop of its own, with two workers, until all have run.
  const server = await startPostgres({ major: 18, inMemory: true, settings: { max_connections: '500' } })
  project.provide('serverUrl', server.url)
  return () => server.stop()
}
