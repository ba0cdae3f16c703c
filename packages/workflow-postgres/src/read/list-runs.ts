import type { RunFilter, RunRecord } from '@belay/workflow/adapter'
import sql from 'sql-template-tag'
import type { Connection } from '../connection/connection.ts'
import { readRunsNewestFirst } from './read-runs.ts'
import { readFrom } from './run-source.ts'

/** Runs, newest first. Index: see {@link readFrom}. No locks. */
export async function listRuns(connection: Connection, filter: RunFilter): Promise<readonly RunRecord[]> {
  const { before, limit, ...conditions } = filter
  return readFrom(connection, conditions, (reading, source) => {
    const found = source.rows(conditions, { before, limit, newest: true })
    return readRunsNewestFirst(reading, sql`${source.with}select found.id from (${found}) found`)
  })
}
