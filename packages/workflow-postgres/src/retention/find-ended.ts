import type { EndedRuns, EndedRunsRequest } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Part of a walk over ended runs from a given place, oldest end first. Guarantee: it reads a bounded number of runs, whatever the conditions. Index:
 * ended runs by (finished_at, id). No locks.
 */
export const findEndedRuns: Statement<{
  readonly looked_at: number
  readonly last_us: string | null
  readonly last_id: string | null
  readonly run_id: string | null
  readonly finished_us: string | null
}> = {
  name: 'find_ended_runs',
  text: `
with looked_at_runs as materialized (
  select r.id, r.finished_at,
    r.status = any ($2::text[]) and ($3::text[] is null or r.workflow = any ($3::text[])) and (not $4::bool or r.key is not null)
      and ($9::text[] is null or r.tags @> $9::text[]) as is_wanted
  from belay.workflow_runs r
  where r.finished_at is not null
    and r.finished_at < timestamptz 'epoch' + $1::float8 * interval '1 millisecond'
    and (r.finished_at, r.id) > (timestamptz 'epoch' + $5::float8 * interval '1 microsecond', $6::uuid)
  order by r.finished_at, r.id
  limit $7::int
),
-- One more than asked for tells whether there are more.
wanted_runs as (
  select id, finished_at from looked_at_runs where is_wanted order by finished_at, id limit $8::int + 1
),
last_run as (
  select id, finished_at from looked_at_runs order by finished_at desc, id desc limit 1
)
select (select count(*)::int from looked_at_runs) as looked_at,
  (select (extract(epoch from finished_at) * 1000000)::bigint::text from last_run) as last_us, (select id from last_run) as last_id,
  w.id as run_id, (extract(epoch from w.finished_at) * 1000000)::bigint::text as finished_us
from (values (1)) as one_row
left join wanted_runs w on true
order by w.finished_at, w.id`,
}

// Runs read by one statement: some ten milliseconds, even if hardly any of them match.
const LOOKED_AT_MAX = 10_000

const BEGINNING = '0/00000000-0000-0000-0000-000000000000'

export async function findEnded(connection: Connection, request: EndedRunsRequest): Promise<EndedRuns> {
  const { finishedBefore, statuses, workflow = null, tags = null, keyed = false, after, limit } = request
  // Microseconds, the database's precision, fit a double exactly for the next two centuries.
  const [afterUs, afterId] = (after ?? BEGINNING).split('/')
  const rows = await connection.query(findEndedRuns, [
    finishedBefore,
    statuses,
    workflow,
    keyed,
    Number(afterUs),
    afterId,
    LOOKED_AT_MAX,
    limit,
    tags,
  ])
  const [first] = rows
  const wanted = rows.filter(({ run_id }) => run_id !== null)
  const taken = wanted.slice(0, limit)
  if (wanted.length > limit) {
    const last = taken.at(-1)!
    return { runIds: ids(taken), cursor: `${last.finished_us}/${last.run_id}`, more: true }
  }
  return {
    runIds: ids(taken),
    cursor: first!.last_id === null ? after : `${first!.last_us}/${first!.last_id}`,
    more: first!.looked_at === LOOKED_AT_MAX,
  }
}

function ids(rows: readonly { readonly run_id: string | null }[]): readonly string[] {
  return rows.map(({ run_id }) => run_id!)
}
