import type { Statement } from '../connection/statement.ts'

/** A hint, by the step that it is of. */
export interface Hint {
  readonly run_id: string
  readonly step: number
}

type Queue = 'workflow_ready' | 'workflow_ready_items'

/** Locks the first due hints of these definitions. Index: the queue by (definition, available_at). Locks: hints, skipping locked ones. */
export const lockHints: Statement<Hint> = { name: 'lock_hints', text: locking('workflow_ready') }

/** The same for hints of many items. */
export const lockRanges: Statement<Hint> = { name: 'lock_ranges', text: locking('workflow_ready_items') }

/**
 * Moves the first due hints of these definitions `$3` seconds ahead, because their steps cannot be leased. Guarantee: a step keeps its hint. Index: the
 * queue by (definition, available_at). Locks: hints, skipping locked ones.
 */
export const postponeHints: Statement<Hint> = { name: 'postpone_hints', text: postponing('workflow_ready') }

/** The same for hints of many items. */
export const postponeRanges: Statement<Hint> = {
  name: 'postpone_ranges',
  text: postponing('workflow_ready_items'),
}

function locking(table: Queue): string {
  return `select r.run_id, r.step from ${firstOf(table)}`
}

// Deleted and written anew: claims rely on queue rows never being updated.
function postponing(table: Queue): string {
  const columns = `definition_id, step, fence, run_id${table === 'workflow_ready' ? '' : ', items'}`
  return `
with first_hints as materialized (
  select r.ctid as row_at
  from ${firstOf(table)}
),
removed_hints as (
  delete from belay.${table} r
  where r.ctid = any (array(select f.row_at from first_hints f))
  returning ${columns}
),
postponed_hints as (
  insert into belay.${table} (available_at, ${columns})
  select belay.store_now() + $3::int * interval '1 second', ${columns} from removed_hints
)
select run_id, step from removed_hints`
}

function firstOf(table: Queue): string {
  return `belay.${table} r
  where r.definition_id = any ($1::int[]) and r.available_at <= belay.store_now()
  order by r.available_at, r.run_id, r.step
  limit $2::int
  for update skip locked`
}
