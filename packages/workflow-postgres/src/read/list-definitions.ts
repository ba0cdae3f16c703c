import type { DefinitionsRequest, ListedDefinition } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { liveStatuses } from '../rows/run-statuses.ts'

interface ListedRow {
  readonly name: string
  readonly version: number
  readonly created_at: number
  readonly live_runs: number
  readonly capped: boolean
}

/**
 * The versions of the workflows after a name, with their live runs: of each workflow and status at most `$3` are counted, oldest first, because the runs of
 * a version that is going out are the oldest. Reads all definitions, of which there are few. Index: runs by (workflow, status, id). No locks.
 */
export const listDefinitionsStatement: Statement<ListedRow> = {
  name: 'list_definitions',
  text: `
with named_workflows as materialized (
  select d.name from belay.workflow_definitions d
  where $1::text is null or d.name collate "C" > $1::text
  group by d.name
  order by d.name collate "C"
  limit $2::int
),
oldest_runs as materialized (
  select n.name, oldest.definition_id, oldest.place
  from named_workflows n
  cross join unnest(array[${liveStatuses}]) as live (status)
  cross join lateral (
    select r.definition_id, row_number() over (order by r.workflow, r.id) as place
    from belay.workflow_runs r
    -- As an array: an equation would let the planner join the whole history.
    where r.workflow = any (array[n.name]) and r.status = live.status
    order by r.workflow, r.id
    -- One more tells whether there are others.
    limit $3::int + 1
  ) oldest
),
counted_runs as (
  select o.definition_id, count(*)::int as runs from oldest_runs o where o.place <= $3::int group by o.definition_id
)
select d.name, d.version, (extract(epoch from d.created_at) * 1000)::float8 as created_at, coalesce(c.runs, 0) as live_runs,
  d.name in (select o.name from oldest_runs o where o.place > $3::int) as capped
from belay.workflow_definitions d
left join counted_runs c on c.definition_id = d.id
where d.name in (select n.name from named_workflows n)
order by d.name collate "C", d.version desc`,
}

export async function listDefinitions(
  connection: Connection,
  { after, limit, liveMax }: DefinitionsRequest,
): Promise<readonly ListedDefinition[]> {
  const rows = await connection.query(listDefinitionsStatement, [after, limit, liveMax])
  return rows.map(({ name, version, created_at: createdAt, live_runs: liveRuns, capped }) => ({
    name,
    version,
    createdAt,
    liveRuns,
    capped,
  }))
}
