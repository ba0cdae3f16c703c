import type { RunFilter, RunRecord } from '@belay/workflow/adapter'
import { sql } from 'drizzle-orm'
import type { Connection } from '../connection/connection.ts'
import { readRunsNewestFirst } from './read-runs.ts'
import { sourceFor } from './run-source.ts'

/** Runs, newest first. Index: see {@link sourceFor}. No locks. */
export async function listRuns(connection: Connection, filter: RunFilter): Promise<readonly RunRecord[]> {
  const { before, limit, ...conditions } = filter
  const source = await sourceFor(connection, conditions)
  const ids = sql`${source.with}select found.id from (${source.newest(conditions, { before, limit })}) found`
  return readRunsNewestFirst(connection, ids)
}
