import {
  type BegunUndo,
  type Claim,
  type Lease,
  type StoredRunStatus,
  UNDO_LEAD_MINUTES,
  type UndoPlan,
} from '@belay/workflow/adapter'
import { boundedLockWait, contended, SHARED_LOCK_WAIT_MS, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ChangedRunRow, changedRunColumns, decodeChangedRun } from '../rows/changed-run.ts'
import { type ClaimRow, claimedColumns, decodeClaim } from '../rows/claim-row.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { placeNow } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Begins the undo of drained runs. Guarantee: exactly once per run, because `ends_as` is set under the run's lock; a plan for a run that is not
 * drained changes nothing; undos that wait for nothing are leased to the worker or queued. Index: primary keys. Locks: the worker's row (shared),
 * then runs by id, and their steps last. This reverses the usual order, but only operators lock steps of a drained run and then the run, and their
 * actions are repeated after a deadlock.
 */
export const beginUndos: Statement<BegunRow> = {
  name: 'begin_undos',
  text: `
with ${boundedLockWait('$10')},
live_worker as materialized (
  -- The first lock of all, as in a claim.
  select w.id from belay.workflow_workers w where w.id = $7::uuid and w.status = 'live' for key share
),
planned_runs as materialized (
  select p.run_id, p.ends_as, p.undos_from, p.undos_to, p.fences, 'compensating' as draining_status
  from unnest($1::uuid[], $2::text[], $3::int[], $4::int[], $9::float8[]) as p (run_id, ends_as, undos_from, undos_to, fences)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
  cross join (select count(*) from live_worker) as worker_was_locked
),
locked_runs as materialized (
  select r.id, r.definition_id, plan.ends_as, plan.undos_from, plan.undos_to
  from planned_runs plan
  join belay.workflow_runs r on r.id = any (array[plan.run_id])
  where r.status = any (array[plan.draining_status]) and r.ends_as is null
    -- Rejects a plan made before the failed run was cancelled: other steps may have to be undone.
    and case when plan.run_id is not null then (r.stop = 'failure') = (plan.ends_as <> 'cancelled') end
    -- Nothing in a stopped run can start again, so this is true even if the snapshot is older than the lock.
    and (
      select count(*) from belay.workflow_steps s
      where s.run_id = r.id and s.status in ('pending', 'ready', 'running', 'waiting')
    ) = 0
    -- Rejects a plan made before the run was sent forward again.
    and (plan.fences is null
      or plan.fences = (select sum(s.fence)::float8 from belay.workflow_steps s where s.run_id = r.id))
  order by plan.run_id
  for no key update of r
),
planned_undos as materialized (
  select l.id as run_id, undo.step, undo.open_dependents, l.definition_id, l.ends_as,
    array['completed', 'failed', 'skipped', 'cancelled'] as ended_statuses,
    undo.open_dependents = 0 and exists (select from live_worker)
      and row_number() over (partition by undo.open_dependents = 0 order by l.id, undo.step) <= $8::int as handed_back
  from locked_runs l
  -- Each run's part of the arrays, so that many runs of many steps cost no more than their sum.
  cross join lateral unnest(($5::int[])[l.undos_from:l.undos_to], ($6::int[])[l.undos_from:l.undos_to])
    as undo (step, open_dependents)
  order by l.id, undo.step
),
begun_undos as (
  update belay.workflow_steps s
  set undo_of = s.status, status = 'compensating', open_dependencies = p.open_dependents,
    undo_attempts = case when p.handed_back then 1 else 0 end, undo_failures = 0, undo_losses = 0,
    undo_started_at = case when p.handed_back then belay.store_now() end, undo_finished_at = null, undo_skipped = null, undo_error = null,
    -- It belongs to the forward attempts: no retry of the undo has been delayed yet.
    available_at = null,
    fence = case when p.handed_back then s.fence + 1 else s.fence end,
    worker_id = case when p.handed_back then $7::uuid end
  from planned_undos p
  where s.run_id = any (array[p.run_id]) and ${stepIs('s', 'p.step')}
    and s.status = any (p.ended_statuses)
  returning s.run_id, s.step, s.fence, p.definition_id, ${claimedColumns}, s.open_dependencies, p.ends_as,
    p.handed_back
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $7::uuid, array_agg(u.run_id) from (select distinct run_id from begun_undos where handed_back) u having count(*) > 0
  returning id
),
queued_undos as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(String(UNDO_LEAD_MINUTES))}, u.definition_id, u.step, u.fence, u.run_id
  from begun_undos u
  where u.open_dependencies = 0 and not u.handed_back
),
open_undos as materialized (
  select u.run_id, u.ends_as, count(*)::int as open_steps from begun_undos u group by u.run_id, u.ends_as
  union all
  select l.id, l.ends_as, 0 from locked_runs l where l.undos_to < l.undos_from
),
moved_runs as (
  update belay.workflow_runs r
  set ends_as = o.ends_as, open_steps = o.open_steps,
    status = case when o.open_steps = 0 then o.ends_as else r.status end,
    finished_at = case when o.open_steps = 0 then belay.store_now() end
  from open_undos o
  where r.id = any (array[o.run_id]) and r.ends_as is null
  returning r.id as run_id, r.status, ${changedRunColumns}
)
select 'run' as kind, m.run_id, m.status, null::int as step, null::int as fence, m.definition_id,
  null::int as round, null::int as attempt, null::int as failures, null::int as losses, null as undo_of, null as journal_id,
  m.key, m.tags, m.duration_ms, m.reports_end
from moved_runs m
union all
select 'claim', u.run_id, null, u.step, u.fence, u.definition_id, u.round, u.attempt, u.failures, u.losses, u.undo_of,
  (select j.id::text from journaled_runs j), null, null, null, null
from begun_undos u where u.handed_back`,
}

type BegunRow =
  | (ChangedRunRow & { readonly kind: 'run'; readonly status: StoredRunStatus })
  | (ClaimRow & { readonly kind: 'claim'; readonly journal_id: string })

export async function beginUndo(
  connection: Connection,
  plans: readonly UndoPlan[],
  lease?: Lease,
  journal?: LeaseJournal,
): Promise<readonly BegunUndo[]> {
  if (plans.length === 0) return []
  const undos = plans.flatMap((plan) => plan.undos)
  let last = 0
  // SQL counts from one, and includes both ends.
  const parts = plans.map(({ undos: { length } }) => {
    last += length
    return { from: last - length + 1, to: last }
  })
  const rows = await connection
    .query(beginUndos, [
      plans.map((plan) => plan.runId),
      plans.map((plan) => plan.endsAs),
      parts.map(({ from }) => from),
      parts.map(({ to }) => to),
      undos.map((undo) => undo.step),
      undos.map((undo) => undo.openDependents),
      lease?.workerId ?? null,
      lease?.handBackMax ?? 0,
      plans.map((plan) => plan.fences ?? null),
      sharedLockWait,
    ])
    .catch((error: unknown) => {
      throw contended(
        error,
        plans.map(({ runId }) => runId),
        SHARED_LOCK_WAIT_MS,
      )
    })
  const runs = rows.flatMap((row) => (row.kind === 'run' ? [decodeChangedRun(row, row.status)] : []))
  if (lease === undefined) return runs
  journalLeases(rows, lease, journal)
  const claims = new Map<string, Claim[]>(runs.map(({ runId }) => [runId, []]))
  for (const row of rows) if (row.kind === 'claim') claims.get(row.run_id)?.push(decodeClaim(row))
  return runs.map((run) => ({ ...run, claims: claims.get(run.runId) ?? [] }))
}

function journalLeases(
  rows: readonly BegunRow[],
  { workerId }: Lease,
  journal: LeaseJournal | undefined,
): void {
  const leased = rows.filter((row) => row.kind === 'claim')
  if (leased[0] === undefined) return
  const runIds = [...new Set(leased.map((row) => row.run_id))]
  journal?.wrote(workerId, { id: leased[0].journal_id, runIds })
}
