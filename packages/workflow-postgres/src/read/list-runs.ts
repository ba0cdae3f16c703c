import { type DatedRun, type NamesRefused, type RunFilter, sendApart } from '@belay/workflow/adapter'
import sql, { type Sql } from 'sql-template-tag'
import { isOfStatement } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import { readRunsNewestFirst } from './read-runs.ts'
import { query, readFrom } from './run-source.ts'

/**
 * Runs, newest first. If the database cannot read one of them, they are found first, and read in halves until that one is alone. Index: see
 * {@link readFrom}. No locks.
 */
export async function listRuns(
  connection: Connection,
  { onRefused, ...filter }: RunFilter & NamesRefused,
): Promise<readonly DatedRun[]> {
  try {
    return await listFrom(connection, filter, (reading, ids) => readRunsNewestFirst(reading, ids, filter))
  } catch (error) {
    if (onRefused === undefined || !isOfStatement(error)) throw error
  }
  const found = await listFrom(connection, filter, (reading, ids) =>
    query<{ readonly id: string }>(
      reading,
      sql`select listed.id from (${ids}) listed order by listed.id desc`,
    ),
  )
  const runs: DatedRun[] = []
  await sendApart(
    found.map(({ id }) => id),
    {
      send: async (ids) => {
        const given = sql`select given.id from unnest(${listText(ids)}::uuid[]) as given (id)`
        runs.push(...(await readRunsNewestFirst(connection, given, filter)))
      },
      refused: (runId, error) => onRefused({ runId, error }),
      heldUp: (_, error) => {
        throw error
      },
      unanswered: (_, error) => {
        throw error
      },
    },
  )
  return runs
}

function listFrom<Row>(
  connection: Connection,
  { before, after, limit, steps: _, ...conditions }: RunFilter,
  read: (reading: Connection, ids: Sql) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  return readFrom(connection, conditions, (reading, source) => {
    const found = source.rows(conditions, { before, after, limit, newest: true })
    return read(reading, sql`${source.with}select found.id from (${found}) found`)
  })
}
