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

/** Starts the server once for all test files: PostgreSQL 18, or 14 with POSTGRES_MAJOR=14, or none if DATABASE_URL names one. */
export default async function startServers(project: TestProject): Promise<() => Promise<void>> {
  const { DATABASE_URL: given, POSTGRES_MAJOR: major } = process.env
  if (given !== undefined && major === undefined) {
    project.provide('servers', [{ name: 'DATABASE_URL', url: given }])
    return async () => {}
  }
  if (major !== undefined && major !== '14' && major !== '18') {
    throw new Error(`POSTGRES_MAJOR is 14 or 18, not ${major}. For another server, set DATABASE_URL to it.`)
  }
  const server = await startPostgres({ major: major === '14' ? 14 : 18, inMemory: true })
  project.provide('servers', [{ name: `PostgreSQL ${major ?? 18}`, url: server.url }])
  return () => server.stop()
}
