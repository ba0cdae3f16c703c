import type { Claim, Lease, NewRun } from '@belay/workflow/adapter'
import { passingLockWait, restoredLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import type { Statement } from '../connection/statement.ts'
import { firstAttempt } from '../rows/claim-row.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { startError } from './start-refusal.ts'
import { CHILDREN, PLAIN, PRIORITISED, type Variant } from './start-variants.ts'

/**
 * Creates runs with all their step rows, and queues their roots or leases them to the worker that asks. Guarantee: a run is never seen without its
 * steps; a taken key or id creates nothing; nothing is leased to a worker that was declared dead before. Index: unique (workflow, key), and the
 * definition's edges by primary key. Locks: runs inserted in the given order, that of their keys, so that two batches with the same keys cannot
 * deadlock; then the worker's row (shared), so that nobody waits for this row while the statement waits for a key.
 */
export const insertRuns: Statement<InsertedRow> = {
  name: 'insert_runs',
  text: insertText(PLAIN),
}

/** The same for runs with priorities, or with steps that have some. Apart, so that other starts do not carry them. */
export const insertPrioritisedRuns: Statement<InsertedRow> = {
  name: 'insert_prioritised_runs',
  text: insertText(PRIORITISED),
}

/**
 * The same for children, of which those are created whose parent's step is held under the given fence. Locks: these steps (shared), by (run, step), and
 * then as above: so an attempt that lost its step either finds that here, or had started the child before it lost the step.
 */
export const insertChildren: Statement<InsertedRow> = {
  name: 'insert_children',
  text: insertText(CHILDREN),
}

function insertText(variant: Variant): string {
  return `
with ${passingLockWait('$11')},
new_runs as materialized (
  select n.run_id, n.definition_id, n.workflow, n.key, n.input, n.input_hash, n.position, n.deadline_ms, n.tags, n.parent_run_id, n.parent_step, n.reports_end${variant.names},
    -- A start time in the past becomes now: the run does not overtake waiting ones, and its deadline begins now.
    greatest(to_timestamp(n.start_at_ms / 1000), belay.store_now() + n.start_delay_ms * interval '1 millisecond',
      case when n.start_at_ms is not null then belay.store_now() end) as start_at
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[],
    $12::text[], $13::text[], $14::uuid[], $15::int[], $16::bool[]${variant.values})
    with ordinality as n (run_id, definition_id, workflow, key, input, start_at_ms, start_delay_ms, deadline_ms, input_hash, tags, parent_run_id, parent_step, reports_end${variant.names.replaceAll('n.', '')}, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
),${variant.held}
-- Each definition's steps as arrays, read once: a batch of a thousand runs has few definitions.
shapes as materialized (
  select ds.definition_id, array_agg(ds.step order by ds.step) as steps,
    array_agg(cardinality(ds.dependencies) order by ds.step) as open_dependencies,
    array_agg(ds.step order by ds.step) filter (where cardinality(ds.dependencies) = 0) as roots,
    (count(*) filter (where cardinality(ds.dependents) = 0))::int as sinks
  from (select distinct definition_id from new_runs) used
  join belay.workflow_definition_steps ds on ds.definition_id = any (array[used.definition_id])
  group by ds.definition_id
),
created_runs as (
  insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow, key, input, start_at, deadline_at,
    input_hash, tags, parent_run_id, parent_step, reports_end, stray${variant.run})
  select n.run_id, n.definition_id, shapes.sinks, belay.store_now(), 'running', n.workflow, n.key, n.input::json, n.start_at,
    coalesce(n.start_at, belay.store_now()) + n.deadline_ms * interval '1 millisecond', n.input_hash, n.tags::text[], n.parent_run_id, n.parent_step, n.reports_end,
    -- The first eight digits of a time-ordered id count units of 65.536 seconds.
    case when abs(date_part('epoch', belay.store_now()) - 65.536::float8 * ('x' || left(n.run_id::text, 8))::bit(32)::bigint - 30) > 90 then true end${variant.ofRun}
  from new_runs n
  join shapes on shapes.definition_id = n.definition_id
  -- All or nothing: a run of an unknown definition would have no steps and never end.
  where (select count(*) from shapes) = (select count(distinct definition_id) from new_runs)${variant.ifHeld}
  order by n.position
  on conflict do nothing
  returning id, definition_id, start_at, parent_run_id
),
added_children as (
  insert into belay.workflow_children (parent_run_id, run_id)
  select c.parent_run_id, c.id from created_runs c where c.parent_run_id is not null
),
live_worker as materialized (
  -- As in a claim: declaring the worker dead happens entirely before or entirely after this. Locked once all runs are inserted.
  select w.id
  from (select count(*) from created_runs) as runs_were_created
  cross join belay.workflow_workers w
  where w.id = $9::uuid and w.status = 'live'
  for key share of w
),
-- Leases all roots of a run, or none. Empty, and not evaluated, if there is no room.
leased_runs as materialized (
  select placed.id, placed.definition_id
  from (
    select c.id, c.definition_id, c.start_at, sum(cardinality(shapes.roots)) over (order by c.id rows unbounded preceding) as room_taken
    from created_runs c
    join shapes on shapes.definition_id = c.definition_id
    where $10::int > 0
  ) placed
  where placed.room_taken <= $10::int and (placed.start_at is null or placed.start_at <= belay.store_now())
    and exists (select from live_worker)
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select $9::uuid, array_agg(l.id) from leased_runs l having count(*) > 0
  returning id
),
created_steps as (
  insert into belay.workflow_steps (run_id, step, open_dependencies, status, available_at, fence, attempts, worker_id, started_at${variant.step})
  select c.id, s.step, s.open_dependencies,
    case when s.open_dependencies > 0 then 'pending' when s.is_leased then 'running' else 'ready' end,
    case when s.open_dependencies = 0 then c.start_at end, case when s.is_leased then 1 else 0 end,
    case when s.is_leased then 1 else 0 end, case when s.is_leased then $9::uuid end, case when s.is_leased then belay.store_now() end${variant.ofStep}
  from created_runs c
  join shapes on shapes.definition_id = c.definition_id
  cross join lateral (
    select each.step, each.open_dependencies,
      each.open_dependencies = 0 and c.id in (select l.id from leased_runs l) as is_leased
    from unnest(shapes.steps, shapes.open_dependencies) as each (step, open_dependencies)
  ) s${variant.numbered}
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${variant.place}, c.definition_id, root.step, 0, c.id
  from created_runs c
  join shapes on shapes.definition_id = c.definition_id
  cross join lateral unnest(shapes.roots) as root (step)${variant.numbered}
  where c.id not in (select l.id from leased_runs l)
),${variant.late}
${restoredLockWait('live_worker')}
-- Only runs that were not created or were leased: usually none of a thousand.
select n.run_id as id, null::int[] as roots, null as journal_id${variant.isLost} from new_runs n where n.run_id not in (select c.id from created_runs c)
union all
select l.id, shapes.roots, (select j.id::text from journaled_runs j)${variant.notLost}
from leased_runs l join shapes on shapes.definition_id = l.definition_id
union all
select null, null, null${variant.notLost} from restored_wait w where w.lock_timeout is null`
}

/** A run that was not created; or, with `roots`, a created run whose roots are leased. */
interface InsertedRow {
  readonly id: string
  readonly roots: readonly number[] | null
  /** The journal row that names the runs whose roots are leased. */
  readonly journal_id: string | null
  /** Only in starts of children: the step that starts it is not held any more. */
  readonly is_lost?: boolean
}

/** The worker that takes what can be leased at once, and its journal. */
export interface Leasing {
  readonly lease: Lease
  readonly journal: LeaseJournal
}

interface Inserted {
  readonly created: readonly NewRun[]
  /** By run id what was leased. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>
  /** The ids of children whose parents' steps are not held any more. */
  readonly lost: ReadonlySet<string | null>
}

export async function insert(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
  leasing: Leasing | undefined,
): Promise<Inserted> {
  const { statement, values } = statementFor(runs)
  const rows = await connection
    .query(statement, [
      runs.map((run) => run.runId),
      runs.map((run) => run.definitionId),
      runs.map((run) => run.workflow),
      unlessAllNull(runs.map((run) => run.key)),
      runs.map((run) => run.input),
      unlessAllNull(runs.map((run) => run.startAt)),
      unlessAllNull(runs.map((run) => run.startDelayMs)),
      unlessAllNull(runs.map((run) => run.deadlineMs)),
      leasing?.lease.workerId ?? null,
      leasing?.lease.handBackMax ?? 0,
      waits,
      unlessAllNull(runs.map((run) => run.inputHash ?? null)),
      unlessAllNull(runs.map(({ tags }) => (tags === undefined ? null : listText(tags)))),
      unlessAllNull(runs.map(({ parent }) => parent?.runId ?? null)),
      unlessAllNull(runs.map(({ parent }) => parent?.step ?? null)),
      unlessAllNull(runs.map(({ reportsEnd }) => (reportsEnd === true ? true : null))),
      ...values,
    ])
    .catch((error: unknown) => {
      throw startError(error, runs)
    })
  const claims = new Map<string, readonly Claim[]>()
  if (rows.length === 0) return { created: runs, claims, lost: new Set() }
  const roots = new Map(rows.map((row) => [row.id, row.roots]))
  // A run without a row here was created and not leased.
  const created = runs.filter(({ runId }) => roots.get(runId) !== null)
  for (const { runId, definitionId } of created) {
    const leased = roots.get(runId)?.map((step) => firstAttempt(runId, step, definitionId))
    if (leased !== undefined) claims.set(runId, leased)
  }
  const id = rows.find((row) => row.journal_id !== null)?.journal_id ?? null
  if (leasing !== undefined && id !== null) {
    leasing.journal.wrote(leasing.lease.workerId, { id, runIds: [...claims.keys()] })
  }
  const lost = new Set(rows.filter((row) => row.is_lost === true).map((row) => row.id))
  return { created, claims, lost }
}

/** The cheapest statement that starts these runs, with the values that only it takes. */
function statementFor(runs: readonly NewRun[]): {
  readonly statement: Statement<InsertedRow>
  readonly values: readonly unknown[]
} {
  if (runs.some(({ parentFence }) => parentFence !== undefined)) {
    const fences = runs.map(({ parentFence }) => parentFence ?? null)
    return { statement: insertChildren, values: [...prioritiesOf(runs), fences] }
  }
  const isPrioritised = runs.some(({ priority, stepPriorities }) => priority || stepPriorities)
  return isPrioritised
    ? { statement: insertPrioritisedRuns, values: prioritiesOf(runs) }
    : { statement: insertRuns, values: [] }
}

/** `unnest` fills shorter arrays with nulls, so a column that is all null need not be sent. */
function unlessAllNull<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] | null {
  return values.some((value) => value !== null) ? values : null
}

function prioritiesOf(runs: readonly NewRun[]): readonly unknown[] {
  return [
    runs.map(({ priority = 0 }) => priority),
    unlessAllNull(runs.map(({ stepPriorities: own }) => (own === undefined ? null : `{${own.join()}}`))),
  ]
}
