import type { JsonText, ResultOfStep, RunResult, StepStatus } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM } from '../rows/item-rows.ts'

/** What completed runs gave: a row for each step that is no item. Index: primary keys. No locks. */
export const readResultsStatement: Statement<{
  readonly run_id: string
  readonly definition_id: number
  readonly step: number
  readonly status: StepStatus
  readonly branch: JsonText
  readonly output: JsonText
  readonly error: JsonText
}> = {
  name: 'read_results',
  text: `
with found_runs as materialized (
  -- The status is compared below: here, a planner without statistics would read all completed runs.
  select r.id, r.definition_id, r.status
  from unnest($1::uuid[]) as wanted (run_id)
  join belay.workflow_runs r on r.id = any (array[wanted.run_id])
)
select c.id as run_id, c.definition_id, s.step, s.status, s.branch::text as branch, s.output::text as output,
  s.error::text as error
from found_runs c
join belay.workflow_steps s on s.run_id = any (array[c.id]) and s.step < ${FIRST_ITEM}
where case when c.id is not null then c.status = 'completed' end
order by c.id, s.step`,
}

export async function readResults(
  connection: Connection,
  runIds: readonly string[],
): Promise<readonly RunResult[]> {
  const wanted = [...new Set(runIds.filter(isUuid))]
  if (wanted.length === 0) return []
  const results = new Map<string, { readonly definitionId: number; readonly steps: ResultOfStep[] }>()
  for (const { run_id, definition_id, ...step } of await connection.query(readResultsStatement, [wanted])) {
    const result = results.get(run_id)
    if (result === undefined) results.set(run_id, { definitionId: definition_id, steps: [step] })
    else result.steps.push(step)
  }
  return [...results].map(([runId, result]) => ({ runId, ...result }))
}
