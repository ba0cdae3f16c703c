/** Item rows have numbers from here on; see `itemNumber()` of the port. */
export const FIRST_ITEM = 65_536

/** The step of the definition by which a row is executed: its own for a step, its map for an item. */
export function templateOf(step: string): string {
  return `case when ${step} < ${FIRST_ITEM} then ${step} else (${step} >> 16) - 1 end`
}

/** The name of a row `s`; `ds` is its step of the definition. That of a map ends in brackets, between which an item has its key. */
export const rowName = `case when s.item_key is null then ds.name else left(ds.name, -1) || s.item_key || ']' end`
