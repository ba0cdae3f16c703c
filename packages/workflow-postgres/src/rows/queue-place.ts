import { type NewRun, UNDO_LEAD_MINUTES } from '@belay/workflow/adapter'
import { stepIs } from './step-lookup.ts'

/** How many minutes a row of a step moves forward in the queue, like `leadOf()` of the port. */
export function leadOf(row: string): string {
  return `case when ${row}.undo_of is null then coalesce(${row}.priority, 0) else ${UNDO_LEAD_MINUTES} end`
}

/**
 * When a queued step became ready. Its place is as much before as its lead, unless it was due later than it was queued, or was parked at a limit: then
 * the step has the instant. `row` yields the step, `place` its place.
 */
export function readySince(row: string, place: string): string {
  return `case when ${row}.available_at >= ${place} then ${row}.available_at
    else ${place} + ${leadOf(row)} * interval '1 minute' end`
}

/** How long a queued step has been ready, in whole milliseconds. By epochs, because a damaged row may have an instant that cannot be subtracted. */
export function waitedMs(row: string, place: string): string {
  return `round(greatest(0, date_part('epoch', belay.store_now()) - date_part('epoch', ${readySince(row, place)})) * 1000)`
}

/** The place in the queue of a step that is ready now, like `placeOf()` of the port. `lead` in minutes. */
export function placeNow(lead: string): string {
  return `belay.store_now() - ${lead} * interval '1 minute'`
}

/** The place of a step that is ready at an instant. Until then it is that instant, so that no claim takes the step before. */
export function placeAt(instant: string, lead: string): string {
  return `case when ${instant} > belay.store_now() then ${instant} else ${instant} - ${lead} * interval '1 minute' end`
}

/**
 * The CTE that notes which queued steps take another place once they are due: a sweep gives it to them. `rows` yields them as `q`, ready at the given
 * instant.
 */
export function notedLate(rows: string, instant: string, lead: string): string {
  return `late_steps as (
  insert into belay.workflow_ready_late (due_at, lead, definition_id, step, fence, run_id)
  select ${instant}, ${lead}, q.definition_id, q.step, q.fence, q.run_id
  from ${rows} q
  where ${instant} > belay.store_now() and ${lead} > 0
)`
}

/** The definition of the run of a row. */
export function definitionOf(row: string): string {
  return `(select r.definition_id from belay.workflow_runs r where r.id = any (array[${row}.run_id]))`
}

/**
 * CTEs that remove the queue rows of steps that no longer wait until an instant: otherwise they would stay until then, which may be weeks. Rows that
 * are due already, or locked, are left to the claim that meets them. `from` yields the steps as `f`, with `run_id`, `step` and the `available_at` that
 * they had; `definition` is an expression for their definition. Index: the queue by (definition, available_at), late steps by due time. Locks: those
 * rows, skipping locked ones.
 */
export function forgottenHints(from: string, definition: string): string {
  return `forgotten_steps as materialized (
  select f.run_id, f.step, f.available_at, ${definition} as definition_id
  from ${from}
  where f.available_at > belay.store_now()
),
forgotten_hints as materialized (
  select q.ctid as row_at
  from forgotten_steps f
  join belay.workflow_ready q on q.definition_id = any (array[f.definition_id]) and q.available_at = any (array[f.available_at])
    and q.run_id = any (array[f.run_id]) and ${stepIs('q', 'f.step')}
  for update of q skip locked
),
removed_hints as (
  delete from belay.workflow_ready q where q.ctid = any (array(select h.row_at from forgotten_hints h))
),
forgotten_late_steps as materialized (
  select l.ctid as row_at, f.available_at
  from forgotten_steps f
  join belay.workflow_ready_late l on l.due_at = any (array[f.available_at])
  where l.run_id = any (array[f.run_id]) and ${stepIs('l', 'f.step')}
  for update of l skip locked
),
removed_late_steps as (
  -- By the index: while the table is small, a plan for many ctids would read all of it.
  delete from belay.workflow_ready_late l using forgotten_late_steps h
  where l.due_at = any (array[h.available_at]) and l.ctid = any (array[h.row_at])
)`
}

/** How many minutes steps of a new run are placed before their time. */
export function leadsOfRun({ priority = 0, stepPriorities = [] }: NewRun): readonly number[] {
  return [...new Set([0, ...stepPriorities])].map((own) => priority + own).filter((lead) => lead > 0)
}
