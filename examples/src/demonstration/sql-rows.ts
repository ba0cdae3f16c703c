import type { Database } from '../database.ts'
import { wrapped } from '../terminal/fitting.ts'
import type { Colours } from '../terminal/screen.ts'
import { table } from '../terminal/table.ts'
import type { Stage } from './stage.ts'

/** The query that shows a run's steps at any SQL prompt. Its parameter is the run's id. */
export const STEP_ROWS_SQL = `select name, status, undo_of, attempt, losses,
       round(extract(epoch from duration) * 1000)::int as ms,
       left(output::text, 36) as output
from belay.workflow_step_overview where run_id = $1 order by step`

type Rows = readonly Readonly<Record<string, unknown>>[]

export function readSqlRows(database: Database, sql: string, runId: string): Promise<Rows> {
  return database.query(sql, [runId])
}

/** A query and its rows, as any SQL prompt shows them. */
export function sqlLines(
  sql: string,
  rows: Rows,
  { columns, colours }: { readonly columns: number; readonly colours: Colours },
): readonly string[] {
  const text = sql.split('\n').flatMap((line) => wrapped(`  ${line}`, columns))
  return [...text.map((line) => colours.dim(line)), '', ...table(rows, columns)]
}

/** Prints a query about a run and its rows, if the user asked for SQL, and an empty line in any case. */
export async function showSql(
  { database, screen, sql: isWanted }: Stage,
  sql: string,
  runId: string,
): Promise<void> {
  if (!isWanted) return screen.print('')
  const rows = await readSqlRows(database, sql, runId)
  screen.print('', ...sqlLines(sql, rows, { columns: screen.size.columns, colours: screen.colours }), '')
}
