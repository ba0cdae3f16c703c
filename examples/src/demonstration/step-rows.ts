import type { Database } from '../database.ts'

/** The query that shows a run's steps at any SQL prompt. Its parameter is the run's id. */
export const STEP_ROWS_SQL = `select name, status, undo_of, attempt, failures,
       round(extract(epoch from duration) * 1000)::int as ms, left(output::text, 36) as output
from belay.workflow_step_overview where run_id = $1 order by step`

export function readStepRows(
  database: Database,
  runId: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return database.query(STEP_ROWS_SQL, [runId])
}
