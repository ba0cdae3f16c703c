import type { RunEnd, RunEndsRequest } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { parentOf } from '../rows/run-columns.ts'
import type { EndMarks, FoundEnds } from './end-marks.ts'

/** What a look adds to each end that it found; or, if it found none, to an empty one. */
interface EndRow {
  readonly sequence: string
  readonly run_id: string
  readonly definition_id: number
  readonly workflow: string
  readonly key: string | null
  readonly status: RunEnd['status']
  readonly parent_run_id: string | null
  readonly parent_step: number | null
}

/**
 * Kept ends of runs of some definitions, each after a number, in the order of their sequence. The trigger `workflow_runs_report_end` writes them. The first
 * row says what the look cost. Index: primary keys, once for each definition. No locks.
 */
export const findEnds: Statement<
  ({ readonly kind: 'end' } & EndRow) | ({ readonly kind: 'head' } & Pick<FoundEnds, 'last' | 'scanned'>)
> = {
  name: 'find_run_ends',
  text: `
with before_look as materialized (
  select pg_stat_get_xact_tuples_returned(to_regclass('belay.workflow_run_ends_pkey')) as entries,
    pg_sequence_last_value(to_regclass('belay.workflow_run_ends_sequence_seq'))::text as last
),
asked_definitions as materialized (
  select a.definition_id, a.after from before_look cross join unnest($1::int[], $2::bigint[]) as a (definition_id, after)
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
),
cost as materialized (
  select (pg_stat_get_xact_tuples_returned(to_regclass('belay.workflow_run_ends_pkey')) - b.entries)::float8 as scanned, b.last
  from (select count(*) from found_ends) as ends_were_found
  cross join before_look b
)
select row.kind, row.last, row.scanned, row.number::text as sequence, row.run_id, row.definition_id, row.workflow, row.key, row.status,
  row.parent_run_id, row.parent_step
from (
  select 'head' as kind, c.last, c.scanned, null::bigint as number, null::uuid as run_id, null::int as definition_id, null as workflow, null as key,
    null as status, null::uuid as parent_run_id, null::int as parent_step
  from cost c
  union all
  select 'end', null, null, e.sequence, e.run_id, e.definition_id, r.workflow, r.key, e.status, r.parent_run_id, r.parent_step
  from found_ends e
  join belay.workflow_runs r on r.id = any (array[e.run_id])
) row
order by row.number nulls first`,
}

/**
 * Forgets ends. Index: primary key. Locks: the ends, skipping locked ones: somebody else is forgetting them. Not a join: beside a held snapshot it may
 * be planned as one of the whole table, which seems small.
 */
export const forgetEnds: Statement<Record<never, never>> = {
  name: 'forget_run_ends',
  text: `
with forgotten_ends as materialized (
  select e.row_at
  from unnest($1::int[], $2::bigint[]) as f (definition_id, sequence)
  cross join lateral (
    select o.ctid as row_at from belay.workflow_run_ends o
    where o.definition_id = any (array[f.definition_id]) and o.sequence = any (array[f.sequence])
    limit 1
    for update skip locked
  ) e
)
-- Ends are never updated, so the ctid of a locked one stays valid until this statement ends.
delete from belay.workflow_run_ends e
where e.ctid = any (array(select row_at from forgotten_ends))`,
}

export async function findRunEnds(
  connection: Connection,
  { definitionIds, after, limit }: RunEndsRequest,
  marks: EndMarks,
): Promise<readonly RunEnd[]> {
  const ids = [...new Set(definitionIds)]
  // A later page of a look, which begins where the one before ended.
  const look = after === undefined ? marks.begin(ids) : undefined
  const rows = await connection.query(findEnds, [ids, look?.after ?? ids.map(() => after), limit])
  const ends = rows.filter((row) => row.kind === 'end')
  const head = rows.find((row) => row.kind === 'head')!
  look?.end({ ...head, ends, isExhausted: ends.length < limit })
  return ends.map((row) => ({
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
