import { type NewRun, UNDO_LEAD_MINUTES } from '@belay/workflow/adapter'

/** How many minutes a row of a step moves forward in the queue, like `leadOf()` of the port. */
export function leadOf(row: string): string {
  return `case when ${row}.undo_of is null then coalesce(${row}.priority, 0) else ${UNDO_LEAD_MINUTES} end`
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

/** How many minutes steps of a new run are placed before their time. */
export function leadsOfRun({ priority = 0, stepPriorities = [] }: NewRun): readonly number[] {
  return [...new Set([0, ...stepPriorities])].map((own) => priority + own).filter((lead) => lead > 0)
}
