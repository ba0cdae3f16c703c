import type { Claim, Lease, NewRun, StartedRun } from '@belay/workflow/adapter'
import { batchesBySize } from '../base/batches.ts'
import { passingLockWait, restoredLockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { listText } from '../connection/list-text.ts'
import type { Statement } from '../connection/statement.ts'
import { firstAttempt } from '../rows/claim-row.ts'
import type { LeaseJournal } from '../rows/lease-journal.ts'
import { startError, undefinedAmong } from './start-refusal.ts'

/**
 * Creates runs with all their step rows, and queues their roots or leases them to the worker that asks. Guarantee: a run is never seen without its
 * steps; a taken key or id creates nothing; nothing is leased to a worker that was declared dead before. Index: unique (workflow, key), and the
 * definition's edges by primary key. Locks: runs inserted in the given order, that of their keys, so that two batches with the same keys cannot
 * deadlock; then the worker's row (shared), so that nobody waits for this row while the statement waits for a key.
 */
export const insertRuns: Statement<InsertedRow> = {
  name: 'insert_runs',
  text: `
with ${passingLockWait('$11')},
new_runs as materialized (
  select n.run_id, n.definition_id, n.workflow, n.key, n.input, n.input_hash, n.position, n.deadline_ms, n.tags, n.parent_run_id, n.parent_step, n.reports_end,
    -- A start time in the past becomes now: the run does not overtake waiting ones, and its deadline begins now.
    greatest(to_timestamp(n.start_at_ms / 1000), belay.store_now() + n.start_delay_ms * interval '1 millisecond',
      case when n.start_at_ms is not null then belay.store_now() end) as start_at
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[],
    $12::text[], $13::text[], $14::uuid[], $15::int[], $16::bool[])
    with ordinality as n (run_id, definition_id, workflow, key, input, start_at_ms, start_delay_ms, deadline_ms, input_hash, tags, parent_run_id, parent_step, reports_end, position)
  cross join (select count(*) from bounded_wait) as wait_was_bounded
),
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
    input_hash, tags, parent_run_id, parent_step, reports_end, stray)
  select n.run_id, n.definition_id, shapes.sinks, belay.store_now(), 'running', n.workflow, n.key, n.input::json, n.start_at,
    coalesce(n.start_at, belay.store_now()) + n.deadline_ms * interval '1 millisecond', n.input_hash, n.tags::text[], n.parent_run_id, n.parent_step, n.reports_end,
    -- The first eight digits of a time-ordered id count units of 65.536 seconds.
    case when abs(date_part('epoch', belay.store_now()) - 65.536::float8 * ('x' || left(n.run_id::text, 8))::bit(32)::bigint - 30) > 90 then true end
  from new_runs n
  join shapes on shapes.definition_id = n.definition_id
  -- All or nothing: a run of an unknown definition would have no steps and never end.
  where (select count(*) from shapes) = (select count(distinct definition_id) from new_runs)
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
  insert into belay.workflow_steps (run_id, step, open_dependencies, status, available_at, fence, attempts, worker_id, started_at)
  select c.id, s.step, s.open_dependencies,
    case when s.open_dependencies > 0 then 'pending' when s.is_leased then 'running' else 'ready' end,
    case when s.open_dependencies = 0 then c.start_at end, case when s.is_leased then 1 else 0 end,
    case when s.is_leased then 1 else 0 end, case when s.is_leased then $9::uuid end, case when s.is_leased then belay.store_now() end
  from created_runs c
  join shapes on shapes.definition_id = c.definition_id
  cross join lateral (
    select each.step, each.open_dependencies,
      each.open_dependencies = 0 and c.id in (select l.id from leased_runs l) as is_leased
    from unnest(shapes.steps, shapes.open_dependencies) as each (step, open_dependencies)
  ) s
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select coalesce(c.start_at, belay.store_now()), c.definition_id, root.step, 0, c.id
  from created_runs c
  join shapes on shapes.definition_id = c.definition_id
  cross join lateral unnest(shapes.roots) as root (step)
  where c.id not in (select l.id from leased_runs l)
),
${restoredLockWait('live_worker')}
-- Only runs that were not created or were leased: usually none of a thousand.
select n.run_id as id, null::int[] as roots, null as journal_id from new_runs n where n.run_id not in (select c.id from created_runs c)
union all
select l.id, shapes.roots, (select j.id::text from journaled_runs j)
from leased_runs l join shapes on shapes.definition_id = l.definition_id
union all
select null, null, null from restored_wait w where w.lock_timeout is null`,
}

/** A run that was not created; or, with `roots`, a created run whose roots are leased. */
interface InsertedRow {
  readonly id: string
  readonly roots: readonly number[] | null
  /** The journal row that names the runs whose roots are leased. */
  readonly journal_id: string | null
}

/**
 * The runs that hold the ids or keys of runs that were not created. Index: primary key, then unique (workflow, key). No locks. Runs after the insert,
 * with a fresh snapshot: the insert could not see a holder that committed meanwhile.
 */
export const readHolders: Statement<{
  readonly asked_id: string
  readonly run_id: string
  readonly definition_id: number
  readonly version: number
  readonly input: string | null
  readonly input_hash: string | null
}> = {
  name: 'read_holders',
  text: `
select asked.run_id as asked_id, holder.id as run_id, holder.definition_id, holder.input::text as input, holder.input_hash,
  (select d.version from belay.workflow_definitions d where d.id = holder.definition_id) as version
from unnest($1::uuid[], $2::text[], $3::text[]) as asked (run_id, workflow, key)
cross join lateral (
  select r.id, r.definition_id, r.input, r.input_hash from belay.workflow_runs r where r.id = asked.run_id
  union all
  select r.id, r.definition_id, r.input, r.input_hash from belay.workflow_runs r
  where r.workflow = asked.workflow and r.key = asked.key
  limit 1
) holder`,
}

// A holder may vanish between the insert that met it and this read: then the key is free again.
const ROUNDS_MAX = 10

/** The worker that takes what can be leased at once, and its journal. */
export interface Leasing {
  readonly lease: Lease
  readonly journal: LeaseJournal
}

interface StartOptions {
  readonly leasing?: Leasing | undefined
  /** How long to wait for a key that another transaction has taken, as Postgres takes it. */
  readonly waits?: string
}

/** Starts runs in one transaction, however large their inputs are. */
export async function startRuns(
  connection: Connection,
  runs: readonly NewRun[],
  { leasing, waits = sharedLockWait }: StartOptions = {},
): Promise<readonly StartedRun[]> {
  const [batch, ...more] = batchesBySize(runs, (run) => run.input?.length ?? 0)
  if (batch === undefined) return []
  if (more.length === 0) return startBatch(connection, batch, waits, leasing)
  return connection.transaction(async (transaction) => {
    const started: StartedRun[] = []
    for (const part of [batch, ...more]) started.push(...(await startBatch(transaction, part, waits)))
    return started
  })
}

async function startBatch(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
  leasing?: Leasing,
): Promise<readonly StartedRun[]> {
  const started = new Map<string, StartedRun>()
  let open = runs
  for (let round = 0; round < ROUNDS_MAX && open.length > 0; round += 1) {
    // Runs created in a later round are left to the queue.
    const { created, claims } = await insert(
      connection,
      inOrderOfKeys(open),
      waits,
      round === 0 ? leasing : undefined,
    )
    const asCreated = ({ runId, definitionId, input }: NewRun): StartedRun => {
      const run = { runId, created: true, definitionId, input }
      return leasing === undefined ? run : { ...run, claims: claims.get(runId) ?? [] }
    }
    if (created.length === runs.length) return runs.map(asCreated)
    for (const run of created) started.set(run.runId, asCreated(run))
    open = open.filter((run) => !started.has(run.runId))
    for (const [askedId, holder] of await holdersOf(connection, open)) {
      started.set(askedId, leasing === undefined ? holder : { ...holder, claims: [] })
    }
    open = open.filter((run) => !started.has(run.runId))
  }
  if (open.length > 0) throw await undefinedAmong(connection, open)
  return runs.map((run) => started.get(run.runId)!)
}

function inOrderOfKeys(runs: readonly NewRun[]): readonly NewRun[] {
  if (!runs.some((run) => run.key !== null)) return runs
  return [...runs].sort(
    (one, other) => compare(one.workflow, other.workflow) || compare(one.key ?? '', other.key ?? ''),
  )
}

// By code unit, which is the same in every process, unlike a locale's order.
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Returns the runs that it created, and by run id what was leased. */
async function insert(
  connection: Connection,
  runs: readonly NewRun[],
  waits: string,
  leasing: Leasing | undefined,
): Promise<{ readonly created: readonly NewRun[]; readonly claims: ReadonlyMap<string, readonly Claim[]> }> {
  const rows = await connection
    .query(insertRuns, [
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
    ])
    .catch((error: unknown) => {
      throw startError(error, runs)
    })
  const claims = new Map<string, readonly Claim[]>()
  if (rows.length === 0) return { created: runs, claims }
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
  return { created, claims }
}

/** `unnest` fills shorter arrays with nulls, so a column that is all null need not be sent. */
function unlessAllNull<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] | null {
  return values.some((value) => value !== null) ? values : null
}

async function holdersOf(
  connection: Connection,
  runs: readonly NewRun[],
): Promise<readonly (readonly [askedId: string, holder: StartedRun])[]> {
  if (runs.length === 0) return []
  const rows = await connection.query(readHolders, [
    runs.map((run) => run.runId),
    runs.map((run) => run.workflow),
    runs.map((run) => run.key),
  ])
  return rows.map((row) => [
    row.asked_id,
    {
      runId: row.run_id,
      // Also if it is the same run: an earlier call created it, and only the answer was lost.
      created: false,
      definitionId: row.definition_id,
      input: row.input,
      version: row.version,
      inputHash: row.input_hash,
    },
  ])
}
