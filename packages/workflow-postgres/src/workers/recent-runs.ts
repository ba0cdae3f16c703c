import type { RecentRuns } from '@belay/workflow/adapter'
import { idAt, MADE_BEFORE_MS } from '../base/uuid.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

// A constant: with a parameter, or with more, a planner without statistics would read the table.
const RECENT_MAX = 1_000

/**
 * Counts what was started and what ended since an instant, by definition: the newest of each, up to a limit. Index: runs by primary key from an id on,
 * strays by their creation, and runs by the time of their end. No locks.
 */
export const countRecentRuns: Statement<{
  readonly definition_id: number
  readonly workflow: string
  readonly version: number
  readonly started: number
  readonly started_since: number
  readonly ended: number
  readonly ended_since: number
  readonly failed: number
  readonly failed_step: string | null
  readonly failed_run_ids: readonly string[] | null
}> = {
  name: 'count_recent_runs',
  text: `
with recent_time as materialized (
  select timestamptz 'epoch' + $1::float8 * interval '1 millisecond' as since
),
started_runs as materialized (
  select n.definition_id, n.created_at
  from recent_time t
  cross join lateral (
    -- Strays are not left out here: without statistics their share is unknown.
    (select r.definition_id, r.created_at, r.stray is null as is_counted from belay.workflow_runs r
    where r.id >= $2::uuid
    order by r.id desc
    limit ${RECENT_MAX})
    union all
    (select r.definition_id, r.created_at, true as is_counted from belay.workflow_runs r
    where r.stray and r.created_at >= t.since
    order by r.created_at desc
    limit ${RECENT_MAX})
  ) n
  where n.is_counted and n.created_at >= t.since
),
ended_runs as materialized (
  select n.*
  from recent_time t
  cross join lateral (
    select r.definition_id, r.id, r.finished_at, r.stop = 'failure' as has_failed, r.cause ->> 'step' as failed_step
    from belay.workflow_runs r
    where r.finished_at >= t.since
    order by r.finished_at desc, r.id desc
    limit ${RECENT_MAX}
  ) n
),
counted_times as (
  select
    case when s.runs >= ${RECENT_MAX} then s.oldest else t.since end as started_since,
    case when e.runs >= ${RECENT_MAX} then e.oldest else t.since end as ended_since
  from recent_time t
  cross join (select count(*) as runs, min(created_at) as oldest from started_runs) s
  cross join (select count(*) as runs, min(finished_at) as oldest from ended_runs) e
),
counted_starts as (
  select s.definition_id, count(*)::int as started from started_runs s group by s.definition_id
),
counted_ends as (
  select e.definition_id, count(*)::int as ended, (count(*) filter (where e.has_failed))::int as failed,
    (array_agg(e.id order by e.finished_at desc, e.id desc) filter (where e.has_failed))[1:5] as failed_run_ids,
    mode() within group (order by e.failed_step collate "C") filter (where e.has_failed) as failed_step
  from ended_runs e
  group by e.definition_id
)
select d.id as definition_id, d.name as workflow, d.version,
  coalesce(s.started, 0) as started, (extract(epoch from t.started_since) * 1000)::float8 as started_since,
  coalesce(c.ended, 0) as ended, (extract(epoch from t.ended_since) * 1000)::float8 as ended_since,
  coalesce(c.failed, 0) as failed, c.failed_step, c.failed_run_ids::text[] as failed_run_ids
from counted_starts s
full join counted_ends c on c.definition_id = s.definition_id
cross join counted_times t
join belay.workflow_definitions d on d.id = any (array[coalesce(s.definition_id, c.definition_id)])
order by d.name collate "C", d.version`,
}

export async function recentRuns(connection: Connection, since: number): Promise<readonly RecentRuns[]> {
  const rows = await connection.query(countRecentRuns, [since, idAt(since - MADE_BEFORE_MS)])
  return rows.map((row) => ({
    definitionId: row.definition_id,
    workflow: row.workflow,
    version: row.version,
    started: row.started,
    startedSince: row.started_since,
    ended: row.ended,
    endedSince: row.ended_since,
    failed: row.failed,
    failedStep: row.failed_step,
    failedRunIds: row.failed_run_ids ?? [],
  }))
}
