import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/**
 * Stops runs whose deadline has passed, and cancels what has not started in them. Guarantee: both commit together; a run that is stopping or
 * at an end stays as it is, however many workers do this at once. Index: the partial index of deadlines, steps by primary key. Locks:
 * steps, then runs, each by (run, step).
 */
export const expireRunsStatement: Statement<{ readonly run_id: string }> = {
  name: 'expire_runs',
  text: `
with overdue_runs as materialized (
  select r.id, r.deadline_at, array['pending', 'ready', 'waiting'] as open_statuses, array['running', 'paused'] as forward_statuses
  from belay.workflow_runs r
  where r.deadline_at <= belay.store_now() and r.status in ('running', 'paused')
  order by r.deadline_at
  limit $1::int
),
locked_steps as materialized (
  select s.run_id, s.step
  from overdue_runs o
  join belay.workflow_steps s on s.run_id = any (array[o.id])
  where s.status = any (o.open_statuses)
  order by o.id, s.step
  for update of s
),
-- Their queue rows stay: a claim that meets one removes it.
cancelled_steps as (
  update belay.workflow_steps s
  set status = 'cancelled'
  from locked_steps l
  where s.run_id = any (array[l.run_id]) and s.step = any (array[l.step])
  returning 1
)
update belay.workflow_runs r
set status = 'compensating', stop = 'failure',
  cause = format('{"type":"deadline","deadlineAt":"%s"}',
    to_char(r.deadline_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json
from (
  select overdue_runs.id, overdue_runs.forward_statuses
  from overdue_runs
  -- Makes the runs the last to be locked.
  cross join (select count(*) from cancelled_steps) as steps_were_locked
  order by overdue_runs.id
) overdue
where r.id = any (array[overdue.id]) and r.status = any (overdue.forward_statuses)
returning r.id as run_id`,
}

/**
 * When the next queued step of these definitions becomes claimable, and when the next deadline passes, in milliseconds from now. Index: the
 * queue by (definition, available_at), and the partial index of deadlines; it reads one entry for each definition, and one deadline. No
 * locks.
 */
export const readUpcoming: Statement<{
  readonly claim_in_ms: number | null
  readonly deadline_in_ms: number | null
}> = {
  name: 'read_upcoming',
  text: `
select
  (
    select (extract(epoch from min(due.available_at) - belay.store_now()) * 1000)::float8
    from unnest($1::int[]) as wanted (definition_id)
    cross join lateral (
      select q.available_at from belay.workflow_ready q
      where q.definition_id = wanted.definition_id and q.available_at > belay.store_now()
      order by q.available_at
      limit 1
    ) due
  ) as claim_in_ms,
  (
    select (extract(epoch from r.deadline_at - belay.store_now()) * 1000)::float8
    from belay.workflow_runs r
    where r.deadline_at is not null and r.status in ('running', 'paused')
    order by r.deadline_at
    limit 1
  ) as deadline_in_ms`,
}

export async function expireRuns(
  connection: Connection,
  request: { readonly limit: number },
): Promise<readonly string[]> {
  const rows = await connection.query(expireRunsStatement, [request.limit])
  return rows.map((row) => row.run_id)
}

export async function upcoming(
  connection: Connection,
  request: { readonly definitionIds: readonly number[] },
): Promise<{ readonly claimInMs: number | null; readonly deadlineInMs: number | null }> {
  const [row] = await connection.query(readUpcoming, [request.definitionIds])
  return { claimInMs: row!.claim_in_ms, deadlineInMs: row!.deadline_in_ms }
}
