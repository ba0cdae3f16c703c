import type { Claim } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ClaimRow, decodeClaim } from './claim.ts'

/**
 * Declares workers dead whose lease has expired. Guarantee: commits on its own, before anything is taken from them; no claim for them can
 * be under way, since claims share the row's lock and locked rows are skipped. Also tells of workers declared dead before. Index: the
 * table is as small as the number of workers. Locks: workers' rows, skipping locked ones.
 */
export const declareDeadWorkers: Statement<{ readonly id: string; readonly is_new: boolean }> = {
  name: 'declare_dead_workers',
  text: `
with expired_workers as materialized (
  select w.id from belay.workflow_workers w
  where w.status = 'live' and w.lease_expires_at <= belay.store_now()
  order by w.id
  limit 1000
  for update skip locked
),
declared_workers as (
  update belay.workflow_workers w
  set status = 'dead'
  from expired_workers e
  where w.id = any (array[e.id])
  returning w.id
)
select id, true as is_new from declared_workers
union all
select id, false from belay.workflow_workers where status = 'dead'`,
}

/**
 * Gives back steps of one dead worker: a bounded part of one pass over the live runs. Guarantee: a worker that is dead gets no more steps,
 * so one pass finds all; step and queue row change together; at the end of the pass the worker is forgotten. Index: the partial index of
 * live runs, steps by primary key. Locks: the dead worker's row, skipping locked ones (one sweeper per worker), then steps by (run, step).
 */
export const recoverSteps: Statement<
  { readonly kind: 'swept'; readonly is_done: boolean } | ({ readonly kind: 'recovered' } & ClaimRow)
> = {
  name: 'recover_steps',
  text: `
with dead_worker as materialized (
  select w.id, coalesce(w.swept_through, '00000000-0000-0000-0000-000000000000') as swept_through
  from belay.workflow_workers w
  where w.status = 'dead'
  order by w.id
  limit 1
  for update skip locked
),
searched_runs as materialized (
  select r.id, r.definition_id, d.id as worker_id, array['running', 'compensating'] as leased_statuses
  from dead_worker d
  cross join lateral (
    select live.id, live.definition_id from belay.workflow_runs live
    where live.status in ('scheduled', 'running', 'waiting', 'paused', 'compensating', 'compensation_failed')
      and live.id > d.swept_through
    order by live.id
    limit $1::int
  ) r
),
held_steps as materialized (
  select s.run_id, s.step, r.definition_id
  from searched_runs r
  join belay.workflow_steps s on s.run_id = any (array[r.id])
  where s.worker_id = any (array[r.worker_id]) and s.status = any (r.leased_statuses)
  order by r.id, s.step
  -- One more than will be given back tells whether there is more.
  limit $2::int + 1
  for update of s
),
due_steps as materialized (
  select h.run_id, h.step, h.definition_id from held_steps h order by h.run_id, h.step limit $2::int
),
recovered_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'running' then 'ready' else s.status end, worker_id = null, losses = s.losses + 1,
    finished_at = belay.store_now()
  from due_steps d
  where s.run_id = any (array[d.run_id]) and s.step = any (array[d.step])
  returning s.run_id, s.step, s.attempt, d.definition_id, s.failures, s.losses, s.undo_of
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, attempt, run_id)
  select belay.store_now(), s.definition_id, s.step, s.attempt, s.run_id
  from recovered_steps s
),
progress as materialized (
  select d.id,
    (select count(*) from searched_runs) < $1::int and (select count(*) from held_steps) <= $2::int as is_done,
    -- When there are more steps than the limit, the run of the one too many is looked at again in the next part.
    coalesce((
      select r.id from searched_runs r
      where (select count(*) from held_steps) <= $2::int
        or r.id < (select h.run_id from held_steps h order by h.run_id desc limit 1)
      order by r.id desc
      limit 1
    ), d.swept_through) as swept_through
  from dead_worker d
),
advanced_worker as (
  update belay.workflow_workers w
  set swept_through = p.swept_through
  from progress p
  where w.id = any (array[p.id]) and not p.is_done
),
forgotten_worker as (
  delete from belay.workflow_workers w
  using progress p
  where w.id = any (array[p.id]) and p.is_done
)
select 'recovered' as kind, null::bool as is_done,
  s.run_id, s.step, s.attempt, s.definition_id, s.failures, s.losses, s.undo_of
from recovered_steps s
union all
select 'swept', p.is_done, null, null, null, null, null, null, null
from progress p`,
}

export type RecoveredStep = Omit<Claim, 'failures' | 'undoOf'>

// Runs looked at in one statement: short enough to hold its locks for a few milliseconds.
const RUNS_PER_PART = 500

// Parts in one sweep, so that a tick is never long however many runs are live.
const PARTS_PER_SWEEP = 20

export async function sweep(
  connection: Connection,
  request: { limit: number },
): Promise<{
  readonly lostWorkers: readonly string[]
  readonly recovered: readonly RecoveredStep[]
  readonly more: boolean
}> {
  const dead = await connection.query(declareDeadWorkers, [])
  const lostWorkers = dead.filter((row) => row.is_new).map((row) => row.id)
  // The dead ones of before are read next to those declared now, from one snapshot, in which the latter still live.
  let remaining = dead.length
  const recovered: RecoveredStep[] = []
  for (let part = 0; part < PARTS_PER_SWEEP && remaining > 0; part += 1) {
    const limit = request.limit - recovered.length
    const rows = await connection.query(recoverSteps, [RUNS_PER_PART, limit])
    recovered.push(...rows.flatMap((row) => (row.kind === 'recovered' ? [decodeRecovered(row)] : [])))
    const swept = rows.find((row) => row.kind === 'swept')
    // Other sweepers have the rest in hand.
    if (swept === undefined) return { lostWorkers, recovered, more: false }
    if (swept.is_done) remaining -= 1
    else if (recovered.length === request.limit) break
  }
  return { lostWorkers, recovered, more: remaining > 0 }
}

function decodeRecovered(row: ClaimRow): RecoveredStep {
  const { failures: _failures, undoOf: _undoOf, ...recovered } = decodeClaim(row)
  return recovered
}
