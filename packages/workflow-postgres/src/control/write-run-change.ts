import { leadOf, type RunChange, type RunToChange, type StepChange } from '@belay/workflow/adapter'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { moveKeptAttempts } from '../rows/kept-attempts.ts'
import { leaveLimits } from '../rows/leave-limits.ts'
import { moveChildren } from '../rows/move-children.ts'
import { moveRunValues } from '../rows/move-values.ts'
import { forgottenHints, notedLate, placeAt } from '../rows/queue-place.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { queueItems } from './queue-items.ts'
import { divideSteps, shiftColumns, shiftSteps } from './shift-steps.ts'

/**
 * Writes a decided change of a run that this transaction has locked: its row, the changed steps, the queue rows, and its history. If the run moves to
 * another definition, it writes each step's row with the payloads of the old one. Guarantee: all of it commits together, and the lock is the guard.
 * Index: primary keys. Locks: only rows of new steps, because it holds all others.
 */
export const writeRunChange: Statement<{ readonly written: number }> = {
  name: 'write_run_change',
  text: `
with changed_steps as materialized (
  select c.run_id, c.step, c.old_step, c.status, c.open_dependencies, c.fence, c.failures, c.losses, c.worker_id, c.undo_of,
    to_timestamp(c.started_at / 1000) as started_at, to_timestamp(c.finished_at / 1000) as finished_at,
    to_timestamp(c.available_at / 1000) as available_at, to_timestamp(c.waiting_since / 1000) as waiting_since,
    to_timestamp(c.signalled_at / 1000) as signalled_at, to_timestamp(c.failing_since / 1000) as failing_since,
    c.sets_output, c.output, c.is_new, c.new_error, c.round, c.attempts, c.undo_attempts, c.undo_failures, c.undo_losses,
    to_timestamp(c.undo_started_at / 1000) as undo_started_at, to_timestamp(c.undo_finished_at / 1000) as undo_finished_at,
    c.undo_skipped, c.new_undo_error, c.succeeded, c.branch, c.next_item, c.item_order, c.priority
  from unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::int[], $6::int[], $7::int[], $8::int[], $9::uuid[], $10::text[],
    $11::float8[], $12::float8[], $13::float8[], $14::float8[], $15::float8[], $16::bool[], $17::text[], $18::bool[], $19::float8[], $38::text[],
    $39::int[], $40::int[], $41::int[], $42::int[], $43::int[], $44::float8[], $45::float8[], $46::bool[], $47::text[], $48::bool[],
    $49::text[], $50::int[], $52::text[], $53::int[])
    as c (run_id, step, old_step, status, open_dependencies, fence, failures, losses, worker_id, undo_of,
      started_at, finished_at, available_at, waiting_since, signalled_at, sets_output, output, is_new, failing_since, new_error,
      round, attempts, undo_attempts, undo_failures, undo_losses, undo_started_at, undo_finished_at, undo_skipped, new_undo_error, succeeded,
      branch, next_item, item_order, priority)
),
-- A statement sees the rows as they were before it, so this reads the old payloads.
moved_payloads as materialized (
  select c.step, old.output, old.error, old.undo_error, old.begun
  from changed_steps c
  join belay.workflow_steps old on old.run_id = any (array[c.run_id]) and ${stepIs('old', 'c.old_step')}
  where c.old_step <> c.step
),
updated_steps as (
  update belay.workflow_steps s
  set status = c.status, open_dependencies = c.open_dependencies, fence = c.fence, failures = c.failures, losses = c.losses,
    worker_id = c.worker_id, undo_of = c.undo_of, started_at = c.started_at, finished_at = c.finished_at,
    available_at = c.available_at, waiting_since = c.waiting_since, signalled_at = c.signalled_at, failing_since = c.failing_since,
    round = c.round, attempts = c.attempts, undo_attempts = c.undo_attempts, undo_failures = c.undo_failures,
    undo_losses = c.undo_losses, undo_started_at = c.undo_started_at, undo_finished_at = c.undo_finished_at, undo_skipped = c.undo_skipped,
    undo_error = case when c.undo_of is null then null when c.new_undo_error is not null then c.new_undo_error::json
      when c.old_step = c.step then s.undo_error else c.moved_undo_error end,
    output = case when c.sets_output then c.output::json when c.old_step = c.step then s.output else c.moved_output end,
    error = case when c.new_error is not null then c.new_error::json when c.old_step = c.step then s.error else c.moved_error end,
    -- A step that is reset has not begun; a step whose handler is given up has begun.
    begun = case when c.started_at is null then false when c.new_error is not null then true when c.old_step = c.step then s.begun else c.moved_begun end,
    succeeded = c.succeeded, branch = c.branch::json, next_item = coalesce(c.next_item, s.next_item),
    priority = c.priority, item_order = case when c.next_item is null then s.item_order else c.item_order::int[] end
  from (
    select changed.*, m.output as moved_output, m.error as moved_error, m.undo_error as moved_undo_error, m.begun as moved_begun
    from changed_steps changed
    left join moved_payloads m on m.step = any (array[changed.step])
    where not changed.is_new
  ) c
  where s.run_id = any (array[c.run_id]) and ${stepIs('s', 'c.step')}
  returning 1
),
inserted_steps as (
  insert into belay.workflow_steps (run_id, step, status, open_dependencies, fence, failures, losses, worker_id, undo_of,
    started_at, finished_at, available_at, waiting_since, signalled_at, failing_since, output, error, begun,
    round, attempts, undo_attempts, undo_failures, undo_losses, undo_started_at, undo_finished_at, undo_skipped, undo_error, succeeded, branch, priority)
  select c.run_id, c.step, c.status, c.open_dependencies, c.fence, c.failures, c.losses, c.worker_id, c.undo_of,
    c.started_at, c.finished_at, c.available_at, c.waiting_since, c.signalled_at, c.failing_since,
    case when c.sets_output then c.output::json else m.output end, m.error, case when c.started_at is null then false else m.begun end,
    c.round, c.attempts, c.undo_attempts, c.undo_failures, c.undo_losses, c.undo_started_at, c.undo_finished_at, c.undo_skipped,
    case when c.undo_of is not null then m.undo_error end, c.succeeded, c.branch::json, c.priority
  from changed_steps c
  left join moved_payloads m on m.step = any (array[c.step])
  where c.is_new
  returning 1
),
-- Rows without a step in the new definition; null if the run keeps its definition.
deleted_steps as (
  delete from belay.workflow_steps s
  where s.run_id = $20::uuid and s.step >= $21::int
  returning 1
),
claimable_steps as materialized (
  select q.step, q.fence, q.lead, $22::int as definition_id, $20::uuid as run_id,
    case when q.waits then to_timestamp(q.available_at / 1000) else greatest(to_timestamp(q.available_at / 1000), belay.store_now()) end as ready_at
  from unnest($23::int[], $24::int[], $25::float8[], $54::int[], $55::bool[]) as q (step, fence, available_at, lead, waits)
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeAt('q.ready_at', 'q.lead')}, q.definition_id, q.step, q.fence, q.run_id
  from claimable_steps q
  returning 1
),
${notedLate('claimable_steps', 'q.ready_at', 'q.lead')},
-- As the rows were before this statement: of steps that do not wait any more, or that are queued anew.
changed_hints as materialized (
  select s.run_id, s.step, s.available_at, r.definition_id
  from belay.workflow_steps s
  join belay.workflow_runs r on r.id = any (array[s.run_id])
  where s.run_id = $20::uuid and s.available_at is not null and (
    $21::int is not null
    or s.step in (select q.step from claimable_steps q)
    or (s.step, s.fence, s.status) not in (select c.step, c.fence, c.status from changed_steps c where c.open_dependencies = 0)
      and s.step in (select c.step from changed_steps c)
  )
),
${forgottenHints('changed_hints f', 'f.definition_id')},
noted_actions as (
  insert into belay.workflow_history (run_id, at, step, action, actor, reason, change)
  select $20::uuid, belay.store_now(), h.step, h.action, h.actor, h.reason, h.change::json
  from unnest($26::int[], $27::text[], $28::text[], $29::text[], $30::text[]) as h (step, action, actor, reason, change)
  returning 1
),
updated_run as (
  update belay.workflow_runs r
  set definition_id = $22::int, status = $31::text, open_steps = $32::int, stop = $33::text, ends_as = $34::text,
    cause = $35::text::json, finished_at = to_timestamp($36::float8 / 1000), deadline_at = to_timestamp($37::float8 / 1000),
    reports_end = coalesce($51::bool, r.reports_end), priority = $56::int
  where r.id = $20::uuid
  returning 1
)
select ((select count(*) from updated_steps) + (select count(*) from inserted_steps) + (select count(*) from updated_run))::int as written`,
}

/**
 * Renumbers a run's signals by the steps of its new definition. Guarantee: the lock on the run is the guard. Index: primary key. Locks: the run's
 * signals.
 */
export const moveSignals: Statement<{ readonly moved: number }> = {
  name: 'move_signals',
  text: `
with removed_signals as (
  delete from belay.workflow_signals s
  where s.run_id = $1::uuid
  returning s.run_id, s.step, s.superseded, s.received_at, s.key, s.payload_hash, s.actor, s.payload
),
moved_signals as (
  insert into belay.workflow_signals (run_id, step, superseded, received_at, key, payload_hash, actor, payload)
  select s.run_id, move.step, s.superseded, s.received_at, s.key, s.payload_hash, s.actor, s.payload
  from removed_signals s
  join unnest($2::int[], $3::int[]) as move (old_step, step) on move.old_step = s.step
  -- Inserts only after all are removed: two steps may swap numbers.
  where (select count(*) from removed_signals) > 0
  returning 1
)
select count(*)::int as moved from moved_signals`,
}

/**
 * Supersedes the signals that steps have given up: the same keys may be sent again. Guarantee: the lock on the steps is the guard; no signal arrives
 * meanwhile. Index: primary key. Locks: those signals.
 */
export const supersedeSignals: Statement<{ readonly superseded: number }> = {
  name: 'supersede_signals',
  text: `
with superseded_signals as (
  update belay.workflow_signals s
  set superseded = 1 + (
    select max(earlier.superseded) from belay.workflow_signals earlier where earlier.run_id = s.run_id and earlier.step = s.step
  )
  where s.run_id = $1::uuid and s.step = any ($2::int[]) and s.superseded = 0
  returning 1
)
select count(*)::int as superseded from superseded_signals`,
}

/** Writes a change, in the transaction that holds the lock on the run. */
export async function write(connection: Connection, found: RunToChange, decided: RunChange): Promise<void> {
  const { shifts, written } = divideSteps(found, decided)
  const change = { ...decided, steps: written }
  const { run, migration } = change
  if (shifts.length > 0) await connection.query(shiftSteps, shiftColumns(run.runId, shifts))
  await connection.query(writeRunChange, [
    ...columnsOfSteps(found, change),
    run.runId,
    migration === undefined ? null : change.steps.length,
    migration?.definitionId ?? found.run.definitionId,
    ...columnsOfQueue(found, decided),
    ...columnsOfHistory(change),
    run.status,
    run.openSteps,
    run.stop,
    run.endsAs,
    run.cause,
    run.finishedAt,
    run.deadlineAt,
    change.steps.map(({ error }) => error ?? null),
    ...columnsOfAttempts(change),
    change.steps.map(({ succeeded }) => (succeeded ? true : null)),
    change.steps.map(({ branch }) => branch),
    change.steps.map(({ turns }) => turns?.nextItem ?? null),
    migration?.reportsEnd ?? null,
    change.steps.map(({ turns }) => (turns?.order ? `{${turns.order.join()}}` : null)),
    change.steps.map(({ priority }) => priority || null),
    ...placesOfQueue(found, decided),
    run.priority || null,
  ])
  if (decided.queuesItems === true) await connection.query(queueItems, [run.runId])
  const askAnew = stepsThatAskAnew(found, decided)
  if (askAnew.length > 0) await connection.query(supersedeSignals, [run.runId, askAnew])
  if (migration === undefined) return
  const moves = migration.oldNumbers.flatMap((old, step) => (old === null ? [] : [{ old, step }]))
  const numbers = [run.runId, moves.map(({ old }) => old), moves.map(({ step }) => step)]
  await connection.query(moveSignals, numbers)
  await connection.query(moveKeptAttempts, numbers)
  await connection.query(moveRunValues, numbers)
  await connection.query(moveChildren, numbers)
  await connection.query(leaveLimits, [found.run.runId])
}

/** The steps that had a signal and give it up, by their numbers before the change. */
function stepsThatAskAnew(found: RunToChange, { steps, migration }: RunChange): readonly number[] {
  return steps.flatMap(({ step, signalledAt }) => {
    const old = migration === undefined ? step : migration.oldNumbers[step]
    // Items of maps take no signals, and their numbers are no positions.
    const hadSignal = old != null && (found.steps[old]?.signalledAt ?? null) !== null
    return hadSignal && signalledAt === null ? [old] : []
  })
}

function columnsOfSteps(found: RunToChange, { steps, migration }: RunChange): readonly unknown[] {
  const column = <Value>(of: (step: StepChange) => Value) => steps.map(of)
  return [
    column(() => found.run.runId),
    column(({ step }) => step),
    column(({ step }) => (migration === undefined ? step : (migration.oldNumbers[step] ?? null))),
    column(({ status }) => status),
    column(({ openDependencies }) => openDependencies),
    column(({ fence }) => fence),
    column(({ failures }) => failures),
    column(({ losses }) => losses),
    column(({ workerId }) => workerId),
    column(({ undoOf }) => undoOf),
    column(({ startedAt }) => startedAt),
    column(({ finishedAt }) => finishedAt),
    column(({ availableAt }) => availableAt),
    column(({ waitingSince }) => waitingSince),
    column(({ signalledAt }) => signalledAt),
    column(({ output }) => output !== undefined),
    column(({ output }) => output ?? null),
    column(({ step }) => migration !== undefined && step >= found.steps.length),
    column(({ failingSince }) => failingSince),
  ]
}

function columnsOfAttempts({ steps }: RunChange): readonly unknown[] {
  return [
    steps.map(({ round }) => round),
    steps.map(({ attempts }) => attempts),
    steps.map(({ undo }) => undo?.attempts ?? null),
    steps.map(({ undo }) => undo?.failures ?? null),
    steps.map(({ undo }) => undo?.losses ?? null),
    steps.map(({ undo }) => undo?.startedAt ?? null),
    steps.map(({ undo }) => undo?.finishedAt ?? null),
    steps.map(({ undo }) => undo?.skipped ?? null),
    steps.map(({ undoError }) => undoError ?? null),
  ]
}

function columnsOfQueue(found: RunToChange, { steps, queue }: RunChange): readonly unknown[] {
  const fences = new Map([...found.steps, ...steps].map(({ step, fence }) => [step, fence]))
  return [
    queue.map(({ step }) => step),
    queue.map(({ step }) => fences.get(step)),
    queue.map(({ availableAt }) => availableAt),
  ]
}

/** How far each queued step moves forward, and whether it waits already. */
function placesOfQueue(found: RunToChange, { steps, queue }: RunChange): readonly unknown[] {
  const rows = new Map([...found.steps, ...steps].map((row) => [row.step, row]))
  return [queue.map(({ step }) => leadOf(rows.get(step)!)), queue.map(({ waits }) => waits === true)]
}

function columnsOfHistory({ history }: RunChange): readonly unknown[] {
  return [
    history.map(({ step }) => step),
    history.map(({ action }) => action),
    history.map(({ actor }) => actor),
    history.map(({ reason }) => reason),
    history.map(({ change }) => change),
  ]
}
