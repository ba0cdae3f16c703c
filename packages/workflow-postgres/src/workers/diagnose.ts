import type { Adapter, Diagnosis, LiveRuns, StrandedStep } from '@belay/workflow/adapter'
import { isOfStatement } from '../base/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statement } from '../connection/statement.ts'
import { FIRST_ITEM, rowName, templateOf } from '../rows/item-rows.ts'
import { readySince } from '../rows/queue-place.ts'
import { liveStatuses } from '../rows/run-statuses.ts'
import { stepIs } from '../rows/step-lookup.ts'
import { listWorkers } from './list-workers.ts'
import { recentRuns } from './recent-runs.ts'

/** The store's time and version. No locks. */
export const readStore: Statement<{
  readonly now: number
  readonly server: string
  readonly migration: string
}> = {
  name: 'read_store',
  text: `
select (extract(epoch from belay.store_now()) * 1000)::float8 as now, current_setting('server_version') as server,
  (select m.tag from belay.workflow_migrations m order by m.id desc limit 1) as migration`,
}

/**
 * The oldest and the newest live runs, counted by definition and status: what lies between is not read. For paused runs, also since when no operator
 * has touched them. Index: live runs from both ends, history by primary key. No locks.
 */
export const countLiveRuns: Statement<{
  readonly definition_id: number
  readonly workflow: string
  readonly version: number
  readonly status: LiveRuns['status']
  readonly runs: number
  readonly oldest_since: number
  readonly run_ids: readonly string[]
}> = {
  name: 'count_live_runs',
  text: `
with beginning as materialized (
  select '00000000-0000-0000-0000-000000000000'::uuid as id
),
oldest_runs as materialized (
  select r.id, r.definition_id, r.status, r.created_at
  from beginning
  -- A condition on the id makes the planner read the index of live runs, whatever the statistics say about their number.
  cross join lateral (
    select live.id, live.definition_id, live.status, live.created_at from belay.workflow_runs live
    where live.status in (${liveStatuses})
      and live.id > beginning.id
    order by live.id
    limit $1::int
  ) r
),
last_of_oldest as materialized (
  select id from oldest_runs order by id desc limit 1
),
live_runs as materialized (
  select o.id, o.definition_id, o.status, o.created_at from oldest_runs o
  union all
  select r.id, r.definition_id, r.status, r.created_at
  from last_of_oldest
  cross join lateral (
    select live.id, live.definition_id, live.status, live.created_at from belay.workflow_runs live
    where live.status in (${liveStatuses})
      and live.id > last_of_oldest.id
    order by live.id desc
    -- One more tells whether there are others.
    limit $1::int + 1
  ) r
),
counted_runs as materialized (
  select l.definition_id, l.status, count(*)::int as runs, (array_agg(l.id order by l.id))[1:5] as run_ids,
    min(case l.status
      when 'paused' then coalesce((select max(h.at) from belay.workflow_history h where h.run_id = l.id), l.created_at)
      else l.created_at end) as oldest_since
  from live_runs l
  group by l.definition_id, l.status
)
select c.definition_id, d.name as workflow, d.version, c.status, c.runs,
  (extract(epoch from c.oldest_since) * 1000)::float8 as oldest_since, c.run_ids::text[] as run_ids
from counted_runs c
join belay.workflow_definitions d on d.id = any (array[c.definition_id])
order by d.name collate "C", d.version, c.status collate "C"`,
}

/**
 * Steps that have been due for longer than the given time, by definition: at most this many of each. Index: the queue by (definition, available_at).
 * No locks.
 */
export const countOverdueSteps: Statement<{
  readonly definition_id: number
  readonly workflow: string
  readonly version: number
  readonly steps: number
  readonly oldest_due_at: number
}> = {
  name: 'count_overdue_steps',
  text: `
select d.id as definition_id, d.name as workflow, d.version, due.steps,
  (extract(epoch from due.oldest_due_at) * 1000)::float8 as oldest_due_at
from belay.workflow_definitions d
cross join lateral (
  select count(*)::int as steps, min(overdue.ready_at) as oldest_due_at
  from (
    select ${readySince('s', 'q.available_at')} as ready_at
    from (
      (select r.available_at, r.run_id, r.step
      from belay.workflow_ready r
      where r.definition_id = d.id and r.available_at < belay.store_now() - $1::float8 * interval '1 millisecond'
      order by r.available_at
      limit $2::int)
      union all
      (select i.available_at, i.run_id, i.step + each.number as step
      from belay.workflow_ready_items i
      cross join lateral generate_series(0, i.items - 1) as each (number)
      where i.definition_id = d.id and i.available_at < belay.store_now() - $1::float8 * interval '1 millisecond'
      order by i.available_at
      limit $2::int)
    ) q
    join belay.workflow_steps s on s.run_id = any (array[q.run_id]) and ${stepIs('s', 'q.step')}
    order by q.available_at
    limit $2::int
  ) overdue
  where overdue.ready_at < belay.store_now() - $1::float8 * interval '1 millisecond'
) due
where due.steps > 0
order by d.name collate "C", d.version`,
}

const STRANDED_MAX = 100
// Each run is read with all its steps. Stranded steps grow old, so the oldest runs are enough.
const SEARCHED_RUNS_MAX = 10_000

/**
 * Steps of the oldest live runs that nothing would ever move. Reads the whole queue besides the steps, and keeps of it what
 * belongs to runs with such steps: a join would need a step's position in the queue, which is not known. Index: live runs, steps by primary key, children by parent. No locks.
 */
export const readStrandedSteps: Statement<{
  readonly run_id: string
  readonly workflow: string
  readonly version: number
  readonly name: string
  readonly fault: StrandedStep['fault']
}> = {
  name: 'read_stranded_steps',
  text: `
with beginning as materialized (
  select '00000000-0000-0000-0000-000000000000'::uuid as id
),
live_runs as materialized (
  select r.id, r.definition_id, r.status
  from beginning
  cross join lateral (
    select live.id, live.definition_id, live.status from belay.workflow_runs live
    where live.status in (${liveStatuses})
      and live.id > beginning.id
    order by live.id
    limit $1::int
  ) r
),
open_steps as materialized (
  select l.definition_id, l.status as run_status, s.run_id, s.step, s.fence, s.status, s.available_at, s.worker_id, s.open_dependencies
  from live_runs l
  join belay.workflow_steps s on s.run_id = any (array[l.id])
  -- As a case, so that no statistics of statuses make the planner expect few of them.
  where case when l.id is not null then s.status in ('ready', 'waiting', 'running', 'compensating') end
),
idle_steps as materialized (
  select o.run_id, o.step, o.fence
  from open_steps o
  where case o.run_status
    -- A wait without end is not queued: what ends it will queue it. Resuming a paused run queues its steps again.
    when 'running' then o.status = 'ready' or (o.status = 'waiting' and o.available_at is not null)
    when 'paused' then false
    else o.status = 'compensating' and o.worker_id is null and o.open_dependencies = 0 end
),
steps_in_no_queue as materialized (
  select run_id, step, fence
  from (
    select run_id, step, fence, true as is_idle from idle_steps
    union all
    select q.run_id, q.step, q.fence, false from belay.workflow_queue_overview q
    -- Not a join, because of the test: the runs are hashed once, whatever joins are allowed. The limit leaves none out, and tells the planner that
    -- the hash is small.
    where (q.run_id in (select distinct i.run_id from idle_steps i limit ${SEARCHED_RUNS_MAX})) is true
  ) steps_and_queue
  group by run_id, step, fence
  having bool_and(is_idle)
),
unqueued_steps as (
  -- A parked step is in a line instead.
  select u.run_id, u.step
  from steps_in_no_queue u
  where not exists (
    select from belay.workflow_limit_waiters w
    where w.run_id = any (array[u.run_id]) and w.step = any (array[u.step]) and w.fence = any (array[u.fence])
  )
),
unheld_steps as (
  select o.run_id, o.step
  from open_steps o
  where o.status in ('running', 'compensating') and o.worker_id is not null
    and not exists (select from belay.workflow_workers w where w.id = any (array[o.worker_id]))
),
-- An item that waits without end waits for a child: nothing else lets an item wait.
steps_with_child as materialized (
  select o.run_id, o.step
  from open_steps o
  left join belay.workflow_definition_steps ds
    on ds.definition_id = any (array[o.definition_id]) and ds.step = any (array[o.step])
  where o.run_status = 'running' and o.status = 'waiting' and o.available_at is null
    and (o.step >= ${FIRST_ITEM} or ds.kind = 'child')
),
childless_steps as (
  select run_id, step from steps_with_child
  except
  select c.parent_run_id, r.parent_step
  from (select distinct run_id from steps_with_child) p
  join belay.workflow_children c on c.parent_run_id = any (array[p.run_id])
  join belay.workflow_runs r on r.id = any (array[c.run_id])
  where r.finished_at is null or r.finished_at > belay.store_now() - $2::float8 * interval '1 millisecond'
),
stranded_steps as materialized (
  select run_id, step, 'unqueued' as fault from unqueued_steps
  union all
  select run_id, step, 'unheld' from unheld_steps
  union all
  select run_id, step, 'childless' from childless_steps
  order by run_id, step
  -- A constant: from a parameter the planner would expect a tenth of the queue.
  limit ${STRANDED_MAX}
)
select st.run_id, r.workflow, d.version, ${rowName} as name, st.fault
from stranded_steps st
join belay.workflow_runs r on r.id = any (array[st.run_id])
join belay.workflow_definitions d on d.id = any (array[r.definition_id])
join belay.workflow_steps s on s.run_id = any (array[st.run_id]) and ${stepIs('s', 'st.step')}
join belay.workflow_definition_steps ds
  on ds.definition_id = any (array[r.definition_id]) and ds.step = any (array[${templateOf('st.step')}])
order by st.run_id, st.step`,
}

/**
 * Live workers that have held more steps for longer than two leases than they know of. A worker compares the two continually, so such a worker has
 * stopped comparing. Index: journals, steps and workers by primary key. No locks.
 */
export const readUnknownLeases: Statement<{
  readonly worker_id: string
  readonly name: string
  readonly held: number
  readonly known: number
}> = {
  name: 'read_unknown_leases',
  text: `
with named_runs as materialized (
  select distinct w.id as worker_id, named.run_id, array['running', 'compensating'] as leased_statuses,
    w.renewed_at - 2 * (w.lease_expires_at - w.renewed_at) as held_before
  from belay.workflow_workers w
  cross join lateral (
    select unnest(j.run_ids) as run_id from belay.workflow_leases j where j.worker_id = w.id
  ) named
  where w.status = 'live' and w.known is not null and w.renewed_at is not null and w.lease_expires_at > w.renewed_at
),
held_steps as (
  select n.worker_id, count(*)::int as held
  from named_runs n
  join belay.workflow_steps s on s.run_id = any (array[n.run_id])
  where s.worker_id = any (array[n.worker_id]) and s.status = any (n.leased_statuses) and
    case when s.undo_of is null then s.started_at else s.undo_started_at end < n.held_before
  group by n.worker_id
)
select h.worker_id, w.name, h.held, w.known
from held_steps h
join belay.workflow_workers w on w.id = any (array[h.worker_id])
where h.held > w.known
order by h.worker_id`,
}

// From either end: counting all of 300,000 took a second.
const LIVE_RUNS_MAX = 10_000
const OVERDUE_MAX = 1_000

/**
 * Separate statements, one after another: the parts need not show the same moment, and no snapshot is held for long. One that the database refuses, as
 * for a damaged row, is empty, and named.
 */
export async function diagnose(
  connection: Connection,
  request: Parameters<Adapter['diagnose']>[0] & { readonly adapter: string; readonly schema: string },
): Promise<Diagnosis> {
  const { overdueMs, recentMs, adapter, schema, onUnread } = request
  const [store] = await connection.query(readStore, [])
  const part = async <Row>(name: string, read: () => Promise<readonly Row[]>): Promise<readonly Row[]> => {
    try {
      return await read()
    } catch (error) {
      if (onUnread === undefined || !isOfStatement(error)) throw error
      onUnread(name, error)
      return []
    }
  }
  const workers = await listWorkers(connection)
  const live = await part('live runs', () => connection.query(countLiveRuns, [LIVE_RUNS_MAX]))
  const overdue = await part('steps that are due', () =>
    connection.query(countOverdueSteps, [overdueMs, OVERDUE_MAX]),
  )
  const stranded = await part('steps that nothing moves', () =>
    connection.query(readStrandedSteps, [SEARCHED_RUNS_MAX, overdueMs]),
  )
  const unknown = await part('steps that workers hold', () => connection.query(readUnknownLeases, []))
  const recent = await part('recent runs', () => recentRuns(connection, store!.now - recentMs))
  return {
    now: store!.now,
    store: { adapter, schema, server: store!.server, migration: store!.migration },
    workers,
    liveRuns: live.map((row) => ({
      definitionId: row.definition_id,
      workflow: row.workflow,
      version: row.version,
      status: row.status,
      runs: row.runs,
      oldestSince: row.oldest_since,
      runIds: row.run_ids,
    })),
    moreLiveRuns: live.reduce((sum, { runs }) => sum + runs, 0) > 2 * LIVE_RUNS_MAX,
    overdueSteps: overdue.map((row) => ({
      definitionId: row.definition_id,
      workflow: row.workflow,
      version: row.version,
      steps: row.steps,
      oldestDueAt: row.oldest_due_at,
    })),
    strandedSteps: stranded.map(({ run_id: runId, ...row }) => ({ runId, ...row })),
    unknownLeases: unknown.map(({ worker_id: workerId, ...row }) => ({ workerId, ...row })),
    recentRuns: recent,
  }
}
