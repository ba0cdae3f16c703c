import type { Claim, Claimed, UndoneStatus } from '@belay/workflow/adapter'
import type { ClaimMarks } from '../claim-marks.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'

/** A row that describes a claim; the columns of `Claim`. */
export interface ClaimRow {
  readonly run_id: string
  readonly step: number
  readonly attempt: number
  readonly definition_id: number
  readonly failures: number
  readonly losses: number
  readonly undo_of: UndoneStatus | null
  /** Given by claims from the queue: whether the run's input, which is small, comes along. */
  readonly has_input?: boolean
  readonly input?: string | null
}

/**
 * Leases due steps to a live worker. Guarantee: a step is leased once, and never to a worker that was declared dead before. Of each
 * definition only what has been due since its mark is looked at; without a mark, all.
 * Index: the queue by (definition, available_at), steps and runs by primary key. Locks: the worker's row (shared), queue rows (skipping
 * locked ones), then steps by (run, step).
 */
export const claimSteps: Statement<HeadRow | ({ readonly kind: 'claim' } & ClaimRow)> = {
  name: 'claim_steps',
  text: `
with live_worker as materialized (
  -- Declaring a worker dead needs this row exclusively: it comes wholly before this claim, or wholly after.
  select w.id from belay.workflow_workers w where w.id = $1::uuid and w.status = 'live' for key share
),
due_definitions as materialized (
  select wanted.definition_id, wanted.since, oldest.available_at
  from live_worker
  cross join (
    select w.definition_id, to_timestamp(w.mark) as since from unnest($2::int[], $4::float8[]) as w (definition_id, mark)
  ) wanted
  cross join lateral (
    select r.available_at from belay.workflow_ready r
    where r.definition_id = wanted.definition_id and r.available_at <= belay.store_now() and r.available_at >= wanted.since
    order by r.available_at
    limit 1
  ) oldest
  order by oldest.available_at
),
due_rows as materialized (
  select due.row_at
  from due_definitions
  cross join lateral (
    select r.ctid as row_at from belay.workflow_ready r
    where r.definition_id = due_definitions.definition_id and r.available_at <= belay.store_now()
      and r.available_at >= due_definitions.since
    order by r.available_at, r.run_id, r.step
    limit $3::int
    for update skip locked
  ) due
  limit $3::int
),
-- Queue rows are never updated, so the place of a locked row is its own until this statement ends.
dequeued_rows as (
  delete from belay.workflow_ready r
  where r.ctid = any (array(select row_at from due_rows))
  returning r.run_id, r.step, r.attempt, r.definition_id, r.available_at
),
hinted_steps as materialized (
  select q.run_id, q.step, q.attempt, min(q.definition_id) as definition_id, min(q.available_at) as available_at
  from dequeued_rows q
  group by q.run_id, q.step, q.attempt
  order by q.run_id, q.step
),
due_steps as materialized (
  select h.run_id, h.step, h.attempt, h.definition_id, h.available_at,
    -- The steps of a run that is stopping are left to the drain, which cancels them; those of a paused one are queued again when it
    -- is resumed.
    case when r.status = 'running' then array['ready', 'waiting']
      when r.status in ('compensating', 'compensation_failed') then array['compensating'] end as claimable_statuses,
    r.has_input, case when r.has_input then r.input::text end as input
  from hinted_steps h
  cross join lateral (
    select run.status, run.input, run.input is null or pg_column_size(run.input) <= 2000 as has_input
    from belay.workflow_runs run where run.id = any (array[h.run_id])
  ) r
),
claimed_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'compensating' then s.status else 'running' end,
    attempt = s.attempt + 1, worker_id = $1::uuid, started_at = belay.store_now(), finished_at = null
  from due_steps due
  where s.run_id = any (array[due.run_id]) and s.step = any (array[due.step])
    -- A hint from before an earlier attempt is stale.
    and s.attempt = any (array[due.attempt]) and s.status = any (due.claimable_statuses)
    and case s.status when 'compensating' then s.worker_id is null and s.open_dependencies = 0 else true end
  returning s.run_id, s.step, s.attempt, due.definition_id, s.failures, s.losses, s.undo_of, due.available_at,
    due.has_input, due.input
)
select 'head' as kind, exists (select from live_worker) as live, (select count(*)::int from dequeued_rows) as dequeued,
  m.definition_ids, m.marks,
  (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms, null::uuid as run_id, null::int as step, null::int as attempt, null::int as definition_id,
  null::int as failures, null::int as losses, null as undo_of, null::bool as has_input, null as input
from (
  select array_agg(newest.definition_id) as definition_ids, array_agg(newest.mark) as marks
  from (
    select q.definition_id, extract(epoch from max(q.available_at))::float8 as mark
    from dequeued_rows q
    group by q.definition_id
  ) newest
) m
union all
select 'claim', null, null, null, null, null, c.run_id, c.step, c.attempt, c.definition_id, c.failures, c.losses, c.undo_of,
  c.has_input, c.input
from (select * from claimed_steps order by available_at, run_id, step) c`,
}

interface HeadRow {
  readonly kind: 'head'
  readonly live: boolean
  readonly dequeued: number
  /** Of which definitions something was dequeued, and when the last of it had become due. Null when nothing was. */
  readonly definition_ids: readonly number[] | null
  readonly marks: readonly number[] | null
  /** How long the server took to find and dequeue them. */
  readonly took_ms: number
}

// Stale hints, left by runs that were stopped, must not hide the work behind them; each round removes as many as the limit.
const ROUNDS_MAX = 10

export async function claim(
  connection: Connection,
  request: { workerId: string; definitionIds: readonly number[]; limit: number },
  marks: ClaimMarks,
): Promise<Claimed | 'lost'> {
  const { workerId, definitionIds } = request
  const claims: Claim[] = []
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const wanted = request.limit - claims.length
    const look = marks.begin(definitionIds)
    const rows = await connection.query(claimSteps, [workerId, definitionIds, wanted, look.since])
    let head: HeadRow | undefined
    for (const row of rows) {
      if (row.kind === 'head') head = row
      else claims.push(decodeQueued(row))
    }
    // Claims of an earlier round are the sweep's to give back, when the worker was declared dead in between.
    if (head?.live !== true) return 'lost'
    look.end(head)
    const stale = head.dequeued - (rows.length - 1)
    if (claims.length >= request.limit) return { claims, more: true }
    if (stale === 0) return { claims, more: false }
  }
  return { claims, more: true }
}

export function decodeClaim(row: ClaimRow): Claim {
  return {
    runId: row.run_id,
    step: row.step,
    attempt: row.attempt,
    direction: row.undo_of === null ? 'forward' : 'undo',
    definitionId: row.definition_id,
    failures: row.failures,
    losses: row.losses,
    undoOf: row.undo_of,
  }
}

/** The claim of a step that goes forward and was never attempted before. */
export function firstAttempt(runId: string, step: number, definitionId: number): Claim {
  return {
    runId,
    step,
    attempt: 1,
    direction: 'forward',
    definitionId,
    failures: 0,
    losses: 0,
    undoOf: null,
  }
}

function decodeQueued(row: ClaimRow): Claim {
  const claim = decodeClaim(row)
  return row.has_input === true ? { ...claim, input: row.input ?? null } : claim
}
