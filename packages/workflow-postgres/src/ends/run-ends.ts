import type { RunEnd, RunEndsRequest } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { parentOf } from '../rows/run-columns.ts'

/**
 * Kept ends of runs of some definitions, in the order of their sequence. The trigger `workflow_runs_report_end` writes them. Index: primary keys, once
 * for each definition. No locks.
 */
export const findEnds: Statement<{
  readonly sequence: string
  readonly run_id: string
  readonly definition_id: number
  readonly workflow: string
  readonly key: string | null
  readonly status: RunEnd['status']
  readonly parent_run_id: string | null
  readonly parent_step: number | null
}> = {
  name: 'find_run_ends',
  text: `
with asked_definitions as materialized (
  select definition_id, $2::bigint as after from unnest($1::int[]) as asked (definition_id)
),
found_ends as materialized (
  select found.*
  from asked_definitions a
  cross join lateral (
    select e.definition_id, e.sequence, e.run_id, e.status
    from belay.workflow_run_ends e
    where e.definition_id = any (array[a.definition_id]) and e.sequence > a.after
    order by e.definition_id, e.sequence
    limit $3::int
  ) found
  order by found.sequence
  limit $3::int
)
select e.sequence::text as sequence, e.run_id, e.definition_id, r.workflow, r.key, e.status, r.parent_run_id, r.parent_step
from found_ends e
join belay.workflow_runs r on r.id = any (array[e.run_id])
order by e.sequence`,
}

/** Forgets ends. Index: primary key. Locks: the ends, skipping locked ones: somebody else is forgetting them. */
export const forgetEnds: Statement<Record<never, never>> = {
  name: 'forget_run_ends',
  text: `
with forgotten_ends as materialized (
  select e.definition_id, e.sequence
  from unnest($1::int[], $2::bigint[]) as f (definition_id, sequence)
  join belay.workflow_run_ends e on e.definition_id = any (array[f.definition_id]) and e.sequence = any (array[f.sequence])
  order by e.definition_id, e.sequence
  for update of e skip locked
)
delete from belay.workflow_run_ends e
using forgotten_ends f
where e.definition_id = any (array[f.definition_id]) and e.sequence = any (array[f.sequence])`,
}

export async function findRunEnds(
  connection: Connection,
  { definitionIds, after = '0', limit }: RunEndsRequest,
): Promise<readonly RunEnd[]> {
  const rows = await connection.query(findEnds, [[...new Set(definitionIds)], after, limit])
  return rows.map((row) => ({
    sequence: row.sequence,
    runId: row.run_id,
    definitionId: row.definition_id,
    workflow: row.workflow,
    key: row.key,
    status: row.status,
    parent: parentOf(row),
  }))
}

export async function forgetRunEnds(
  connection: Connection,
  ends: readonly Pick<RunEnd, 'sequence' | 'definitionId'>[],
): Promise<void> {
  if (ends.length === 0) return
  await connection.query(forgetEnds, [
    ends.map(({ definitionId }) => definitionId),
    ends.map(({ sequence }) => sequence),
  ])
}
