import {
  isUnreachable,
  type KeepsAttempts,
  type NamesRefused,
  type RecoveredStep,
  sendApart,
} from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { type ClaimRow, claimedColumns, decodeClaim } from '../rows/claim-row.ts'
import { type Keeping, keptColumns, keptRows, NOT_KEPT } from '../rows/kept-attempts.ts'
import { leadOf, placeNow } from '../rows/queue-place.ts'
import { liveStatuses } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'

/**
 * Declares workers dead whose lease has expired. Guarantee: it commits on its own, before any step is taken from them. No claim for them can be under
 * way, because claims share the row's lock and locked rows are skipped. Also returns workers declared dead before. Index: the table is as small as
 * the number of workers. Locks: workers' rows, skipping locked ones.
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
 * Writes the journal of a dead worker that kept none because its code was older than the journals: a bounded part of one pass over the live runs.
 * Guarantee: a dead worker gets no more steps, so one pass finds every run in which it holds some. Index: the partial index of live runs, steps by
 * primary key. Locks: the dead worker's row, skipping locked ones.
 */
export const journalDeadWorker: Statement<{ readonly id: string }> = {
  name: 'journal_dead_worker',
  text: journalText(`join belay.workflow_steps s on s.run_id = any (array[r.id])
    where s.worker_id = any (array[r.worker_id]) and s.status = any (r.leased_statuses)`),
}

/** The same, with every run that it passes: for runs of which the database cannot read the steps. */
export const journalDeadWorkerUnread: Statement<{ readonly id: string }> = {
  name: 'journal_dead_worker_unread',
  text: journalText(''),
}

function journalText(holding: string): string {
  return `
with dead_worker as materialized (
  select w.id, coalesce(w.journaled_through, '00000000-0000-0000-0000-000000000000') as journaled_through
  from belay.workflow_workers w
  where w.status = 'dead' and not w.journaled
  order by w.id
  limit 1
  for update skip locked
),
searched_runs as materialized (
  select r.id, d.id as worker_id, array['running', 'compensating'] as leased_statuses
  from dead_worker d
  cross join lateral (
    select live.id from belay.workflow_runs live
    where live.status in (${liveStatuses})
      and live.id > d.journaled_through
    order by live.id
    limit $1::int
  ) r
),
journaled_runs as (
  insert into belay.workflow_leases (worker_id, run_ids)
  select held.worker_id, array_agg(held.id)
  from (
    select distinct r.worker_id, r.id
    from searched_runs r
    ${holding}
  ) held
  group by held.worker_id
)
update belay.workflow_workers w
set journaled = (select count(*) from searched_runs) < $1::int,
  journaled_through = coalesce((select r.id from searched_runs r order by r.id desc limit 1), d.journaled_through)
from dead_worker d
where w.id = any (array[d.id])
returning w.id`
}

/**
 * Returns steps of one dead worker to the queue, the next worker by id: a bounded part of its journal. Guarantee: a dead worker gets no more steps,
 * and its journal names every run in which it holds some; step and queue row change together; a journal row is deleted once the worker holds nothing
 * in its runs, and the worker with its last journal row. A locked step is skipped. If `$6` is given, the steps of other runs are not read, and journal
 * rows that name other runs stay. Index: the journal and steps by primary key. Locks: the dead worker's row (one sweeper per worker), then steps, both
 * skipping locked ones.
 */
export const recoverSteps: Statement<RecoveryRow> = {
  name: 'recover_steps',
  text: recoverText(NOT_KEPT),
}

/** The same, and keeps the attempts. */
export const keptRecoverSteps: Statement<RecoveryRow> = {
  name: 'recover_steps_kept',
  text: recoverText({
    columns: keptColumns(),
    rows: keptRows('recovered_steps', { ended: `'lost'`, worker: '(select d.id from dead_worker d)' }),
  }),
}

function recoverText(keeping: Keeping): string {
  return `
with dead_worker as materialized (
  select w.id, case when w.id = $5::uuid then $4::bigint else 0 end as read_through
  from belay.workflow_workers w
  where w.status = 'dead' and w.journaled and w.id > $3::uuid
  order by w.id
  limit 1
  for update skip locked
),
read_rows as materialized (
  select l.ctid as row_at, l.id, l.run_ids
  from dead_worker d
  join belay.workflow_leases l on l.worker_id = any (array[d.id]) and l.id > d.read_through
  order by l.worker_id, l.id
  limit $1::int
),
named_runs as materialized (
  select distinct named.run_id, d.id as worker_id, array['running', 'compensating'] as leased_statuses
  from read_rows
  cross join dead_worker d
  cross join lateral unnest(read_rows.run_ids) as named (run_id)
  where $6::uuid[] is null or named.run_id = any ($6::uuid[])
),
held_steps as materialized (
  select s.run_id, s.step
  from named_runs n
  join belay.workflow_steps s on s.run_id = any (array[n.run_id])
  where s.worker_id = any (array[n.worker_id]) and s.status = any (n.leased_statuses)
),
locked_steps as materialized (
  select s.run_id, s.step, r.definition_id
  from named_runs n
  join belay.workflow_steps s on s.run_id = any (array[n.run_id])
  join belay.workflow_runs r on r.id = any (array[n.run_id])
  where s.worker_id = any (array[n.worker_id]) and s.status = any (n.leased_statuses)
  limit $2::int
  for no key update of s skip locked
),
recovered_steps as (
  update belay.workflow_steps s
  set status = case when s.status = 'running' then 'ready' else s.status end, worker_id = null,
    losses = s.losses + (s.undo_of is null)::int, undo_losses = s.undo_losses + (s.undo_of is not null)::int,
    -- Nobody knows whether the handler of a lost attempt had begun: it may have.
    begun = case when s.status = 'running' then true else s.begun end,
    finished_at = case when s.undo_of is null then belay.store_now() else s.finished_at end,
    undo_finished_at = case when s.undo_of is not null then belay.store_now() end
  from locked_steps l
  where s.run_id = any (array[l.run_id]) and ${stepIs('s', 'l.step')}
  returning s.run_id, s.step, s.fence, l.definition_id, ${claimedColumns}, s.priority, s.item_key,
    case when s.undo_of is null then s.started_at else s.undo_started_at end as started_at${keeping.columns}
),
queued_steps as (
  insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select ${placeNow(leadOf('s'))}, s.definition_id, s.step, s.fence, s.run_id
  from recovered_steps s
),
left_runs as materialized (
  select array_agg(distinct h.run_id) as run_ids
  from held_steps h
  where (select count(*) from locked_steps) < (select count(*) from held_steps)
    and (h.run_id, h.step) not in (select l.run_id, l.step from locked_steps l)
),
done_rows as materialized (
  select r.row_at from read_rows r cross join left_runs
  where (left_runs.run_ids is null or not r.run_ids && left_runs.run_ids)
    and ($6::uuid[] is null or not exists (
      select from unnest(r.run_ids) as named (run_id)
      where named.run_id not in (select given.run_id from unnest($6::uuid[]) as given (run_id))
    ))
),
deleted_rows as (
  delete from belay.workflow_leases l where l.ctid = any (array(select r.row_at from done_rows r))
),
forgotten_worker as (
  delete from belay.workflow_workers w
  using dead_worker d
  where w.id = any (array[d.id]) and not exists (
    select from belay.workflow_leases l where l.worker_id = d.id and l.ctid not in (select r.row_at from done_rows r)
  )
)${keeping.rows}
select 'recovered' as kind, s.run_id, s.step, s.fence, s.definition_id, s.round, s.attempt, s.failures, s.losses, s.undo_of,
  s.item_key, (extract(epoch from s.started_at) * 1000)::float8 as started_at,
  null::uuid as worker_id, null::bool as is_left, null as read_through
from recovered_steps s
union all
select 'swept', null, null, null, null, null, null, null, null, null, null, null, d.id, (select l.run_ids is not null from left_runs l),
  case when (select count(*) from read_rows) = $1::int then (select max(r.id)::text from read_rows r) end
from dead_worker d`
}

/** The runs that the part of {@link recoverSteps} reads, in no order; null for none. Reads no row of a run. Index: the journal by primary key. No locks. */
export const readPartRuns: Statement<{
  readonly run_id: string | null
  readonly worker_id: string
  readonly read_through: string | null
}> = {
  name: 'read_part_runs',
  text: `
with dead_worker as materialized (
  select w.id, case when w.id = $4::uuid then $3::bigint else 0 end as read_through
  from belay.workflow_workers w
  where w.status = 'dead' and w.journaled and w.id > $2::uuid
  order by w.id
  limit 1
),
read_rows as materialized (
  select l.id, l.run_ids
  from dead_worker d
  join belay.workflow_leases l on l.worker_id = any (array[d.id]) and l.id > d.read_through
  order by l.worker_id, l.id
  limit $1::int
)
select part.run_id, d.id as worker_id,
  case when (select count(*) from read_rows) = $1::int then (select max(r.id)::text from read_rows r) end as read_through
from dead_worker d
left join (
  select distinct named.run_id from read_rows cross join lateral unnest(read_rows.run_ids) as named (run_id)
) part on true
order by random()`,
}

interface RecoveredRow extends ClaimRow {
  readonly kind: 'recovered'
  readonly item_key: string | null
  readonly started_at: number | null
}

interface SweptRow {
  readonly kind: 'swept'
  readonly worker_id: string
  /** Steps were left, because the limit was reached or because they are locked. */
  readonly is_left: boolean
  /** The journal row up to which it was read; null if it was read to its end. */
  readonly read_through: string | null
}

// Runs, and journal rows, read by one statement: few enough to hold its locks for only a few milliseconds.
const RUNS_PER_PART = 500
const ROWS_PER_PART = 50

// Parts in one sweep, so that a tick is never long, however much there is to do.
const PARTS_PER_SWEEP = 20

interface SweepRequest extends KeepsAttempts, NamesRefused {
  readonly limit: number
}

interface Swept {
  readonly lostWorkers: readonly string[]
  readonly recovered: readonly RecoveredStep[]
  readonly more: boolean
}

export async function sweep(connection: Connection, request: SweepRequest): Promise<Swept> {
  const dead = await connection.query(declareDeadWorkers, [])
  const lostWorkers = dead.filter((row) => row.is_new).map((row) => row.id)
  if (dead.length === 0) return { lostWorkers, recovered: [], more: false }
  let parts = PARTS_PER_SWEEP
  for (; parts > 0; parts -= 1) {
    const journaled = await connection.query(journalDeadWorker, [RUNS_PER_PART]).catch((error: unknown) => {
      if (!isOfStatement(error)) throw error
      return connection.query(journalDeadWorkerUnread, [RUNS_PER_PART])
    })
    if (journaled.length === 0) break
  }
  return { lostWorkers, ...(await recover(connection, request, parts)) }
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Returns the steps of dead workers to the queue, one worker after another. Locked steps are left to a later sweep, and do not hide others. */
async function recover(
  connection: Connection,
  { limit, keepAttempts, onRefused }: SweepRequest,
  partsMax: number,
): Promise<Pick<Swept, 'recovered' | 'more'>> {
  const recovered: RecoveredStep[] = []
  let [passed, current, readThrough] = [NO_ID, NO_ID, '0']
  for (let part = 0; part < partsMax; part += 1) {
    const room = limit - recovered.length
    const values = [ROWS_PER_PART, room, passed, readThrough, current]
    const rows = await recoverPart(connection, { keepAttempts, onRefused }, values)
    const steps = rows.flatMap((row) => (row.kind === 'recovered' ? [decodeRecovered(row)] : []))
    recovered.push(...steps)
    const swept = rows.find((row) => row.kind === 'swept')
    // Every dead worker has had its turn; other sweepers handle the rest.
    if (swept === undefined) return { recovered, more: false }
    if (swept.is_left && steps.length === room) return { recovered, more: true }
    if (swept.read_through === null) passed = swept.worker_id
    else [current, readThrough] = [swept.worker_id, swept.read_through]
  }
  return { recovered, more: true }
}

type RecoveryRow = SweptRow | RecoveredRow

/** If the database refuses a step, the runs of this part are recovered in halves, until that one is alone. It stays with the dead worker, and in its journal. */
async function recoverPart(
  connection: Connection,
  { keepAttempts, onRefused }: Omit<SweepRequest, 'limit'>,
  values: readonly unknown[],
): Promise<readonly RecoveryRow[]> {
  const recoverRuns = (runIds: readonly string[] | null) =>
    connection.query(keepAttempts ? keptRecoverSteps : recoverSteps, [...values, runIds])
  try {
    return await recoverRuns(null)
  } catch (error) {
    if (!isOfStatement(error)) throw error
  }
  const [rowsMax, , ...place] = values
  const named = await connection.query(readPartRuns, [rowsMax, ...place])
  const recovered: RecoveryRow[] = []
  const accepted: string[] = []
  const recoverThese = async (runIds: readonly string[]) => {
    const rows = await recoverRuns(runIds)
    recovered.push(...rows.filter(({ kind }) => kind === 'recovered'))
  }
  await sendApart(
    named.flatMap(({ run_id: runId }) => (runId === null ? [] : [runId])),
    {
      send: async (part) => {
        await recoverThese(part)
        accepted.push(...part)
      },
      refused: (runId, error) => onRefused?.({ runId, error }),
      heldUp: () => {},
      unanswered: (_, error) => {
        // Those that are left come first another time: their order is random.
        if (isUnreachable(error) || recovered.length === 0) throw error
      },
    },
  )
  // A journal row goes only once all its runs are asked for together.
  if (accepted.length > 0) await recoverThese(accepted)
  const [last] = named
  if (last === undefined) return recovered
  // What is left is not asked for again at once.
  return [
    ...recovered,
    { kind: 'swept', worker_id: last.worker_id, is_left: false, read_through: last.read_through },
  ]
}

function decodeRecovered(row: RecoveredRow): RecoveredStep {
  const { failures: _failures, undoOf: _undoOf, ...recovered } = decodeClaim(row)
  return { ...recovered, itemKey: row.item_key, startedAt: row.started_at }
}
