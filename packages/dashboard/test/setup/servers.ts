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
  const server = await startPostgres({ major: 18, inMemory: true })
  project.provide('serverUrl', server.url)
  return () => server.stop()
}
