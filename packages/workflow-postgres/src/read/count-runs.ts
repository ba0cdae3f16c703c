import type { RunCount, RunCountRequest, RunStatus, StoredRunStatus } from '@belay/workflow/adapter'
import sql, { join } from 'sql-template-tag'
import type { Connection } from '../connection/connection.ts'
import { shownOf, shownStatus, storedStatuses } from './run-conditions.ts'
import { query, type RunSource, readFrom } from './run-source.ts'

/** Counts runs up to a limit, in total or by shown status. Index: see {@link readFrom}. No locks. */
export async function countRuns(
  connection: Connection,
  { byStatus, ...request }: RunCountRequest,
): Promise<readonly RunCount[]> {
  const count = byStatus ? countByStatus : countAll
  return readFrom(connection, request, (reading, source) => count(reading, source, request))
}

type Request = Omit<RunCountRequest, 'byStatus'>

async function countAll(
  connection: Connection,
  source: RunSource,
  { max, ...conditions }: Request,
): Promise<readonly RunCount[]> {
  // One more than wanted tells whether there are more.
  const found = source.rows(conditions, { limit: max + 1, newest: false })
  const [row] = await query<{ readonly runs: number }>(
    connection,
    sql`${source.with}select count(*)::int as runs from (${found}) found`,
  )
  return [{ status: null, count: Math.min(row!.runs, max), capped: row!.runs > max }]
}

interface StatusRow {
  readonly stored: StoredRunStatus
  readonly shown: RunStatus
  readonly runs: number
  /** The position of the last of them among the runs with that stored status. */
  readonly last_place: number
}

/** Counts each stored status separately, so that the limit applies to each. */
async function countByStatus(
  connection: Connection,
  source: RunSource,
  { max, status, ...conditions }: Request,
): Promise<readonly RunCount[]> {
  const counts = storedStatuses(status).map((stored) => {
    const shown = shownOf(stored, status)
    // Only runs with more than one possible shown status have to be the newest.
    const page = { limit: max + 1, newest: stored === 'running' }
    const found = source.rows({ ...conditions, status: shown }, page)
    return sql`(select ${stored}::text as stored, counted.shown, (count(*) filter (where counted.place <= ${max}))::int as runs,
        max(counted.place)::int as last_place
      from (select ${shownStatus(stored)} as shown, row_number() over (order by r.id desc) as place from (${found}) r) counted
      group by counted.shown)`
  })
  const rows = await query<StatusRow>(connection, sql`${source.with}${join(counts, ' union all ')}`)
  const full = new Set(rows.filter(({ last_place }) => last_place > max).map(({ stored }) => stored))
  return rows.flatMap(({ stored, shown, runs }) =>
    runs === 0 ? [] : [{ status: shown, count: runs, capped: full.has(stored) }],
  )
}
