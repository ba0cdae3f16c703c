import type { FoundRun } from '@belay/workflow/adapter'
import { isUuid } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { parentOf } from '../rows/run-columns.ts'
import { tagsOf } from '../rows/run-tags.ts'

interface FoundRow {
  readonly run_id: string
  readonly definition_id: number
  readonly workflow: string
  readonly version: number
  readonly tags: string | null
  readonly parent_run_id: string | null
  readonly parent_step: number | null
  readonly deadline_at: number | null
  readonly priority: number | null
}

/** The definition of a run, by id. Index: primary keys. No locks. */
export const findRunById: Statement<FoundRow> = {
  name: 'find_run_by_id',
  text: `
select r.id as run_id, r.definition_id, r.workflow, d.version, array_to_json(r.tags)::text as tags,
  r.parent_run_id, r.parent_step, (extract(epoch from r.deadline_at) * 1000)::float8 as deadline_at, r.priority
from belay.workflow_runs r
join belay.workflow_definitions d on d.id = any (array[r.definition_id])
where r.id = $1::uuid`,
}

/** The same by workflow and key. Index: unique (workflow, key), primary key. No locks. */
export const findRunByKey: Statement<FoundRow> = {
  name: 'find_run_by_key',
  text: `
select r.id as run_id, r.definition_id, r.workflow, d.version, array_to_json(r.tags)::text as tags,
  r.parent_run_id, r.parent_step, (extract(epoch from r.deadline_at) * 1000)::float8 as deadline_at, r.priority
from belay.workflow_runs r
join belay.workflow_definitions d on d.id = any (array[r.definition_id])
where r.workflow = $1::text and r.key = $2::text`,
}

export async function findRun(
  connection: Connection,
  wanted: { readonly runId: string } | { readonly workflow: string; readonly key: string },
): Promise<FoundRun | null> {
  if ('runId' in wanted && !isUuid(wanted.runId)) return null
  const [row] =
    'runId' in wanted
      ? await connection.query(findRunById, [wanted.runId])
      : await connection.query(findRunByKey, [wanted.workflow, wanted.key])
  if (row === undefined) return null
  return {
    runId: row.run_id,
    definitionId: row.definition_id,
    workflow: row.workflow,
    version: row.version,
    tags: tagsOf(row.tags),
    parent: parentOf(row),
    deadlineAt: row.deadline_at,
    ...(row.priority === null ? {} : { priority: row.priority }),
  }
}
