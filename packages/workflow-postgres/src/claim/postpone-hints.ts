import type { Statement } from '../connection/statement.ts'

/**
 * Moves the first due hints of these definitions `$3` seconds ahead, because their steps cannot be leased. Guarantee: a step keeps its hint. Index: the
 * queue by (definition, available_at). Locks: hints, skipping locked ones.
 */
export const postponeHints: Statement<{ readonly run_id: string }> = {
  name: 'postpone_hints',
  text: postponing('workflow_ready'),
}

/** The same for hints of many items. */
export const postponeRanges: Statement<{ readonly run_id: string }> = {
  name: 'postpone_ranges',
  text: postponing('workflow_ready_items'),
}

// Deleted and written anew: claims rely on queue rows never being updated.
function postponing(table: 'workflow_ready' | 'workflow_ready_items'): string {
  const columns = `definition_id, step, fence, run_id${table === 'workflow_ready' ? '' : ', items'}`
  return `
with first_hints as materialized (
  select r.ctid as row_at
  from belay.${table} r
  where r.definition_id = any ($1::int[]) and r.available_at <= belay.store_now()
  order by r.available_at, r.run_id, r.step
  limit $2::int
  for update skip locked
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
select distinct run_id from removed_hints`
}
