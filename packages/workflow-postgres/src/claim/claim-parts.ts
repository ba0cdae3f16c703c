import { FIRST_ITEM, newItems } from '../rows/item-rows.ts'
import { forwardStatuses } from '../rows/run-statuses.ts'

// What both ways of claiming share. Both statements are hot: a change here changes two plans.

/** Entries that this session has read from a queue's index, dead ones included: an absolute number, which makes sense only as a difference. */
function entriesRead(table: ReadyTable): string {
  return `pg_stat_get_xact_tuples_returned(to_regclass('belay.${table}_due_idx'))`
}

type ReadyTable = 'workflow_ready' | 'workflow_ready_items'

/**
 * The CTE of the worker, if it is live. Declaring a worker dead locks this row exclusively, so that happens entirely before or entirely after this
 * claim. `from` may name what to wait for first.
 */
export function liveWorker(table: ReadyTable, from = ''): string {
  return `live_worker as materialized (
  select w.id, ${entriesRead(table)} as entries_before
  from ${from}belay.workflow_workers w where w.id = $1::uuid and w.status = 'live' for key share of w
)`
}

/** The parameters of {@link dueDefinitions} after the definitions: since when to look, and until how many minutes before now. */
interface LookParameters {
  readonly since: string
  readonly minutes: string
}

/**
 * The CTE of the requested parts of the queue that have a hint due in this table, the longest due first. What lies before `available_at` need not be
 * scanned again: it may be dead tuples.
 */
export function dueDefinitions(table: ReadyTable, { since, minutes }: LookParameters): string {
  return `due_definitions as materialized (
  select wanted.definition_id, wanted.until, oldest.available_at
  from live_worker
  cross join (
    select w.definition_id, to_timestamp(w.mark) as since, belay.store_now() - w.minutes * interval '1 minute' as until
    from unnest($2::int[], ${since}::float8[], ${minutes}::int[]) as w (definition_id, mark, minutes)
  ) wanted
  cross join lateral (
    select r.available_at from belay.${table} r
    where r.definition_id = wanted.definition_id and r.available_at <= wanted.until and r.available_at >= wanted.since
    order by r.available_at
    limit 1
  ) oldest
  order by oldest.available_at
)`
}

/**
 * The CTE of the runs of items that may begin, locked: a pause does not touch items, so a claim of them sees it here. It comes entirely before or
 * entirely after the pause, and before or after a resumption, which queues items that it finds ready: an older look must not discard their hints.
 * Shared, and not only of the key: then the version that is read is the newest. `runIds` yields the runs of items.
 */
export function itemRuns(runIds: string, wait: '' | 'skip locked' = ''): string {
  return `item_runs as materialized (
  select r.id, r.status from belay.workflow_runs r
  where r.id = any (array(${runIds})) and r.status in (${forwardStatuses})
  order by r.id
  for share of r ${wait}
)`
}

/**
 * The end of the CTE `due_steps`, after the columns of the queue rows: what their runs say about the steps; of items, those of {@link itemRuns}, or
 * nothing if the run was skipped there. `hints` yields the queue rows as `h`.
 */
export function claimableSteps(hints: string): string {
  return `0 as no_dependencies,
    -- The drain cancels the steps of a run that is stopping. Resuming a paused run queues its steps again.
    case when r.status = 'running' then array['ready', 'waiting']
      when r.status in ('compensating', 'compensation_failed') then array['compensating'] end as claimable_statuses,
    r.has_input and h.step < ${FIRST_ITEM} as has_input, case when r.has_input and h.step < ${FIRST_ITEM} then r.input::text end as input
  from ${hints}
  cross join lateral (
    select case when h.step >= ${FIRST_ITEM} and run.status in (${forwardStatuses})
        then (select i.status from item_runs i where i.id = h.run_id) else run.status end as status, run.input, run.input is null or pg_column_size(run.input) <= 2000 as has_input
    from belay.workflow_runs run where run.id = any (array[h.run_id])
  ) r`
}

/** The CTE that removes rows of the worker's journal that are no longer needed; `parameter` holds their ids. */
export function trimmedLeases(parameter: string): string {
  return `trimmed_leases as (
  delete from belay.workflow_leases l
  where l.ctid = any (array(
    select ended.ctid from belay.workflow_leases ended
    where ended.worker_id = $1::uuid and ended.id = any (${parameter}::bigint[])
    for update skip locked
  ))
)`
}

/** Columns of the answer's first row, after the counts of rows looked at and kept. `m` yields the marks. */
export function headColumns(table: ReadyTable): string {
  return `(select count(*)::int from claimed_steps) as leased, (select j.id::text from journaled_runs j) as journal_id, m.definition_ids, m.marks,
  m.firsts, (${entriesRead(table)} - (select w.entries_before from live_worker w))::float8 as scanned,
  extract(epoch from belay.store_now())::float8 as now,
  (extract(epoch from clock_timestamp() - statement_timestamp()) * 1000)::float8 as took_ms, null::uuid as run_id, null::int as step,
  null::int as fence, null::int as definition_id, null::int as round, null::int as attempt, null::int as failures, null::int as losses,
  null as undo_of, null::bool as has_input, null as input, null::float8 as waited_ms`
}

/**
 * The query of the new marks: for each definition, the latest time of the hints in `taken`; if `isKept` says of some `t` that they stay in the queue,
 * the earliest of those. So a mark never lies behind a hint that stays. A row for each minute before now in which hints lie, with the first of them:
 * each priority has a minute of its own.
 */
export function newestMarks(taken: string, isKept = 'false'): string {
  return `
  select array_agg(newest.definition_id) as definition_ids, array_agg(newest.mark) as marks, array_agg(newest.first) as firsts
  from (
    select t.definition_id, extract(epoch from min(t.available_at))::float8 as first,
      extract(epoch from coalesce(min(min(t.available_at) filter (where ${isKept})) over definition, max(max(t.available_at)) over definition))::float8 as mark
    from ${taken} t
    group by t.definition_id, floor(extract(epoch from belay.store_now() - t.available_at) / 60)
    window definition as (partition by t.definition_id)
  ) newest
`
}

/**
 * The answer's rows for the claims in `claims`, in the order in which they are due. Items that were never claimed before share a row for each run: it
 * holds what is different in them, and the run's input once.
 */
export function claimRows(claims: string): string {
  return `select 'claim', null, null, null, null, null, null, null, null, null, null, null, c.run_id, c.step, c.fence, c.definition_id, c.round, c.attempt,
  c.failures, c.losses, c.undo_of, c.has_input, c.input, c.waited_ms
from (select * from ${claims} order by available_at, run_id, step) c
where c.new_item is null
union all
select 'items', null, null, null, null, null, null, null, null, null, null, null, c.run_id, null, null, c.definition_id, null, null,
  null, null, null, r.has_input, json_build_object('input', r.input, 'items', c.items)::text, null
from (${newItems(claims)}) c
cross join lateral (
  select pg_column_size(run.input) <= 2000 or run.input is null as has_input,
    case when pg_column_size(run.input) <= 2000 then run.input::text end as input
  from belay.workflow_runs run where run.id = any (array[c.run_id])
) r`
}
