import type { KeepsAttempts, Outcome, UndoneStatus } from '@belay/workflow/adapter'
import { boundedLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { claimedColumns, countedAttempts } from '../rows/claim-row.ts'
import { FIRST_ITEM } from '../rows/item-rows.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, placeNow } from '../rows/queue-place.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'
import { ITEMS, SKIPS, STEPS, type Walk } from './finish-walks.ts'
import { decodeFinished, type Finished, type FinishedRow } from './finished-rows.ts'

/** What a statement records besides: the arguments from the eleventh on, and what it sets. */
export interface Recording {
  readonly values: string
  readonly names: string
  readonly columns: string
  /** When a settled step keeps the output that it has. */
  readonly keepsOutput: string
  readonly set: string
}

const NOTHING_ELSE: Recording = {
  ...{ values: '', names: '', columns: '', set: '' },
  keepsOutput: `a.undo or a.settles_as = 'received'`,
}

const BRANCHES: Recording = {
  ...NOTHING_ELSE,
  values: ', $11::text[]',
  names: ', branch',
  columns: ', a.branch',
  set: ',\n    branch = coalesce(a.branch::json, s.branch)',
}

const KEPT: Keeping = {
  columns: `${keptColumns()}, a.settles_as`,
  rows: keptRows('settled_attempts', {
    ended: `case when e.settles_as in ('compensated', 'skipped') then e.settles_as else 'completed' end`,
    // A relay is not an attempt.
    where: `not e.undo or e.settles_as = 'compensated'`,
  }),
}

/**
 * Records attempts that succeeded, forward and undo alike, and their consequences: it counts dependents down, leases steps that reach zero to this
 * worker or queues them, and ends runs. Guarantee: all of it commits together; an attempt that no longer holds its step changes nothing; a dependent
 * becomes ready exactly once, and never in a stopping run, whose pending steps were cancelled. Index: primary keys only. Locks: the worker's row
 * (shared), own steps, dependents, runs, each by (run, step).
 *
 * An undo is the same walk with reversed edges: it counts down the steps that its step depends on, and every undo counts as a sink.
 *
 * There are tens of thousands of attempts a second. So a column whose values are all the same is sent as one value. The usual answers, that an
 * attempt was settled and that a step was never attempted before, are returned in one row for all of them.
 */
export const finishAttempts: Statement<FinishedRow> = {
  name: 'finish_attempts',
  text: finishText({ keeping: NOT_KEPT, walk: STEPS }),
}

/** The same, and keeps the attempts. */
export const keptFinishAttempts: Statement<FinishedRow> = {
  name: 'finish_attempts_kept',
  text: finishText({ keeping: KEPT, walk: STEPS }),
}

/** The same for items of maps, and for undone joins. */
export const finishItems: Statement<FinishedRow> = {
  name: 'finish_items',
  text: finishText({ keeping: NOT_KEPT, walk: ITEMS }),
}

/** The same, and keeps the attempts. */
export const keptFinishItems: Statement<FinishedRow> = {
  name: 'finish_items_kept',
  text: finishText({ keeping: KEPT, walk: ITEMS }),
}

/** The same for batches with steps that their definitions skip. Apart, so that other batches do not carry branches. */
export const skipAttempts: Statement<FinishedRow> = {
  name: 'skip_attempts',
  text: finishText({ keeping: NOT_KEPT, walk: SKIPS, recording: BRANCHES }),
}

/** The same, and keeps the attempts. */
export const keptSkipAttempts: Statement<FinishedRow> = {
  name: 'skip_attempts_kept',
  text: finishText({ keeping: KEPT, walk: SKIPS, recording: BRANCHES }),
}

/** The text of a statement that records attempts with which a run continues. */
export function finishText({
  keeping,
  walk,
  recording = NOTHING_ELSE,
}: {
  readonly keeping: Keeping
  readonly walk: Walk
  readonly recording?: Recording
}): string {
  return `
with ${boundedLockWait('$10')},
live_worker as materialized (
  -- The first lock of all, as in a claim. A dead worker may still settle steps that nobody has taken from it, but is leased nothing new.
  select w.id
  from (select count(*) from bounded_wait) as wait_was_bounded
  cross join belay.workflow_workers w
  where w.id = $1::uuid and w.status = 'live'
  for key share of w
),
finished_attempts as materialized (
  select a.run_id, a.step, a.fence, a.definition_id, a.undo, a.settles_as, a.output${recording.columns}, a.position,
    $1::uuid as worker_id, case when a.undo then 'compensating' else 'running' end as leased_status
  from (
    select a.run_id, a.step, a.output${recording.columns}, a.position, coalesce(a.fence, ($4::int[])[1]) as fence,
      coalesce(a.definition_id, ($5::int[])[1]) as definition_id, coalesce(a.undo, ($6::bool[])[1]) as undo,
      coalesce(a.settles_as, ($7::text[])[1]) as settles_as
    from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::bool[], $7::text[], $8::text[]${recording.values})
      with ordinality as a (run_id, step, fence, definition_id, undo, settles_as, output${recording.names}, position)
  ) a
  cross join (select count(*) from live_worker) as worker_was_locked
  order by a.run_id, a.step
),
settled_attempts as (
  update belay.workflow_steps s
  set status = case a.settles_as when 'received' then 'completed' else a.settles_as end,
    undo_of = case when a.settles_as = 'compensated' then s.undo_of end,
    output = case when ${recording.keepsOutput} then s.output else a.output::json end,
    finished_at = case when a.undo then s.finished_at else belay.store_now() end,
    undo_finished_at = case when a.undo then belay.store_now() end${recording.set}
  from finished_attempts a
  where s.run_id = any (array[a.run_id]) and ${walk.own} and s.fence = any (array[a.fence])
    and s.worker_id = any (array[a.worker_id]) and s.status = any (array[a.leased_status])
  returning a.run_id, a.step, a.definition_id, a.undo, a.position${keeping.columns}
),
-- A batch has many attempts of few steps, so the graph is read once for each step, not for each attempt.
followed_edges as materialized (
${walk.edges}
),
-- Two parents may settle in one batch, and UPDATE ... FROM applies only one match per row: sum first.
satisfied_dependencies as materialized (
  select e.run_id, e.step, bool_or(e.undo) as undo, min(e.definition_id) as definition_id, count(*)::int as satisfied,
    case when bool_or(e.undo) then 'compensating' else 'pending' end as blocked_status
  from (
    select unnest(n.run_ids) as run_id, n.step, n.undo, n.definition_id
    from (select f.run_ids, unnest(f.neighbours) as step, f.undo, f.definition_id from followed_edges f) n${walk.moreEdges}
  ) e
  group by e.run_id, e.step
),
-- Whether a step reaches zero is known only under its lock, so the room is divided among all that might. A step is leased at once if its open
-- dependencies equal \`leased_at\`. The two numbers beside it are the same, for one direction each.
blocked_steps as materialized (
  select d.run_id, d.step, d.undo, d.definition_id, d.satisfied, d.blocked_status, case when d.has_room then d.satisfied end as leased_at,
    case when d.has_room and not d.undo then d.satisfied end as begins_at,
    case when d.has_room and d.undo then d.satisfied end as undo_begins_at
  from (
    select e.*, row_number() over (order by e.run_id, e.step) <= $9::int and exists (select from live_worker) as has_room
    from satisfied_dependencies e
  ) d
  order by d.run_id, d.step
),
-- Rows are locked in the order of blocked_steps. A row that another settlement has just changed is read again.
updated_steps as (
  update belay.workflow_steps s
  set open_dependencies = s.open_dependencies - b.satisfied,
    status = case when s.open_dependencies = b.begins_at then 'running' when b.undo or s.open_dependencies > b.satisfied then s.status else 'ready' end,
    fence = case when s.open_dependencies = b.leased_at then s.fence + 1 else s.fence end,
    worker_id = case when s.open_dependencies = b.leased_at then $1::uuid else s.worker_id end,
    -- The clock is read under the lock: another settlement may have ended a dependency after this statement began.
    attempts = case when s.open_dependencies = b.begins_at then ${countedAttempts} + 1 else s.attempts end,
    started_at = case when s.open_dependencies = b.begins_at then belay.store_clock() else s.started_at end,
    finished_at = case when s.open_dependencies = b.begins_at then null else s.finished_at end,
    undo_attempts = case when s.open_dependencies = b.undo_begins_at then s.undo_attempts + 1 else s.undo_attempts end,
    undo_started_at = case when s.open_dependencies = b.undo_begins_at then belay.store_clock() else s.undo_started_at end${walk.counts}
  from blocked_steps b
  where s.run_id = any (array[b.run_id]) and ${walk.blocked} and s.status = any (array[b.blocked_status])
    and s.open_dependencies > 0
  returning s.run_id, s.step, s.fence, b.definition_id, ${claimedColumns}, s.priority,
    s.open_dependencies = 0 as unblocked, s.open_dependencies = 0 and b.leased_at is not null as handed_back,
    s.fence = 1 and s.undo_of is null and s.failures = 0 and s.losses = 0 as is_first${walk.counted}
),${walk.freed}
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('u'))}, u.definition_id, u.step, u.fence, u.run_id
  from updated_steps u
  where u.unblocked and not u.handed_back
),
ended_steps as materialized (
  select e.run_id, bool_or(e.undo) as undo, count(*)::int as ended
  from (
    select unnest(f.run_ids) as run_id, f.undo
    from followed_edges f
    where f.undo or cardinality(f.neighbours) = 0
  ) e
  -- Locks the runs last.
  cross join (select count(*) from updated_steps) as steps_were_locked
  group by e.run_id
  order by e.run_id
),
updated_runs as (
  update belay.workflow_runs r
  set open_steps = r.open_steps - e.ended,
    status = case when r.open_steps > e.ended then r.status when e.undo then r.ends_as else 'completed' end,
    finished_at = case when r.open_steps > e.ended then r.finished_at else belay.store_clock() end
  from ended_steps e
  where r.id = any (array[e.run_id])
    and r.status = any (case when e.undo then array['compensating', 'compensation_failed', 'paused'] else array[${forwardStatuses}] end)
    -- A late success in a run that was stopped while it was paused must be undone.
    and case when not e.undo then r.stop is null else true end
  returning r.id as run_id, r.status, r.open_steps, r.definition_id, r.key, r.tags, r.reports_end, r.finished_at - greatest(r.created_at, r.start_at) as lasted
)${keeping.rows}
select 'settled' as kind, null::uuid[] as run_ids,
  case when (select count(*) from settled_attempts) < cardinality($2::uuid[])
    then array(select t.position::int from settled_attempts t) end as numbers,
  null::uuid as run_id, null::int as step, null::int as fence, null::int as definition_id, null::int as round,
  null::int as attempt, null::int as failures, null::int as losses, null as undo_of, null as status, null::bigint[] as durations_ms, null as keys, null as tags, null::boolean as reports_end
union all
select 'first attempts', array_agg(u.run_id), array_agg(u.step), null, null, null, u.definition_id, null, null, null, null, null, null, null, null, null, null
from updated_steps u where u.handed_back and u.is_first
group by u.definition_id
union all
select 'claim', null, null, u.run_id, u.step, u.fence, u.definition_id, u.round, u.attempt, u.failures, u.losses, u.undo_of, null, null, null, null, null
from updated_steps u where u.handed_back and not u.is_first
union all
select 'queued', null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
where exists (select from updated_steps u where u.unblocked and not u.handed_back)${walk.queued}${walk.answers}
union all
select 'runs', array_agg(r.run_id), null, null, null, null, r.definition_id, null, null, null, null, null, r.status,
  array_agg((date_part('epoch', r.lasted) * 1000)::bigint),
  case when count(r.key) > 0 then json_agg(r.key)::text end,
  (json_object_agg(r.run_id, r.tags) filter (where r.tags is not null))::text, r.reports_end
from updated_runs r where r.open_steps = 0
group by r.status, r.definition_id, r.reports_end`
}

/** An attempt that succeeded: its step completed, received its output from a signal, was skipped, was compensated, or was relayed. */
export type FinishedOutcome = Extract<
  Outcome,
  { type: 'completed' | 'received' | 'skipped' | 'compensated' | 'relayed' }
>

export async function finish(
  connection: Connection,
  request: KeepsAttempts & { workerId: string; outcomes: readonly FinishedOutcome[]; handBackMax: number },
): Promise<Finished> {
  const { workerId, outcomes, handBackMax } = request
  const skips = outcomes.some(({ type }) => type === 'skipped')
  const rows = await connection.query(statementFor(request, skips), [
    workerId,
    outcomes.map((outcome) => outcome.runId),
    outcomes.map((outcome) => outcome.step),
    oneForAll(outcomes.map((outcome) => outcome.fence)),
    oneForAll(outcomes.map((outcome) => outcome.definitionId)),
    oneForAll(outcomes.map((outcome) => outcome.direction === 'undo')),
    oneForAll(outcomes.map(statusOf)),
    outcomes.map((outcome) => (outcome.type === 'completed' ? outcome.output : null)),
    handBackMax,
    sharedLockWait,
    ...(skips ? [outcomes.map((outcome) => (outcome.type === 'skipped' ? outcome.branch : null))] : []),
  ])
  return decodeFinished(rows, outcomes.length)
}

function statementFor(
  { outcomes, keepAttempts = false }: Parameters<typeof finish>[1],
  skips: boolean,
): Statement<FinishedRow> {
  if (skips) return keepAttempts ? keptSkipAttempts : skipAttempts
  // A batch is of one kind.
  if (outcomes[0] !== undefined && isOfMap(outcomes[0])) return keepAttempts ? keptFinishItems : finishItems
  return keepAttempts ? keptFinishAttempts : finishAttempts
}

/** Whether an outcome needs {@link finishItems}: whatever it makes ready are items, or wait for items. An item is never skipped. */
export function isOfMap(outcome: FinishedOutcome): boolean {
  return outcome.step >= FIRST_ITEM || (outcome.type === 'relayed' && outcome.joins === true)
}

/** If all elements are the same, a list of one, which the statement uses for all. */
function oneForAll<Value>(values: readonly Value[]): readonly Value[] {
  return values.every((value) => value === values[0]) ? values.slice(0, 1) : values
}

/** The status of the step after a finished attempt. `received`: completed with the output that the row has. */
export function statusOf(outcome: FinishedOutcome): 'received' | 'compensated' | UndoneStatus {
  return outcome.type === 'relayed' ? outcome.undoOf : outcome.type
}
