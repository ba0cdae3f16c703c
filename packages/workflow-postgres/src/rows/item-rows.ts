/** Item rows have numbers from here on; see `itemNumber()` of the port. */
export const FIRST_ITEM = 65_536

/** How many items a row of the queue may hint at. Fewer waiting items are queued one by one. */
export const RANGE_ITEMS_MAX = 64
/** Into how many rows of the queue the waiting items are divided at least, so that workers can share them. */
export const RANGES_MIN = 16

/** The step of the definition by which a row is executed: its own for a step, its map for an item. */
export function templateOf(step: string): string {
  return `case when ${step} < ${FIRST_ITEM} then ${step} else (${step} >> 16) - 1 end`
}

/** The name of a row `s`; `ds` is its step of the definition. That of a map ends in brackets, between which an item has its key. */
export const rowName = `case when s.item_key is null then ds.name else left(ds.name, -1) || s.item_key || ']' end`

/**
 * The column `new_item` of a step `s`: null for all but an item's first attempt, whose row it describes as JSON. A large item is left out. `fence` is
 * what an item's fence is if it was claimed once, `waited` how long it had been due.
 */
export function newItem(fence: 0 | 1, waited = 'null::float8'): string {
  return `case when s.step >= ${FIRST_ITEM} and s.fence = ${fence} and s.round = 1 and s.undo_of is null
    then case when s.item is null or pg_column_size(s.item) <= 2000 then json_build_array(s.step, ${waited}, s.item_key, s.item::text)
      else json_build_array(s.step, ${waited}) end end as new_item`
}

/** The query of new items among the claims in `claims`, one row for each run. */
export function newItems(claims: string): string {
  return `select n.run_id, n.definition_id, json_agg(n.new_item order by n.step) as items
from ${claims} n
where n.new_item is not null
group by n.run_id, n.definition_id`
}
