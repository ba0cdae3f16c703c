/** The most items of one map, and the most rounds of one loop. */
export const ITEMS_MAX = 65_536

/**
 * Of the `join` of a map in a paused run, `nextItem` is this much greater: no item is there, so an item that ends makes no other one ready. Greater
 * than any `nextItem` of a run that is not paused.
 */
export const HELD_TURNS = 2 ** 20

/**
 * The number of a row that was added to a run: the item with this index, from 0, of the map with this step number. Numbers of steps are smaller
 * than {@link ITEMS_MAX}, numbers of items are not. So rows sort by step, then by map and index, and a number alone says whose item it is.
 */
export function itemNumber(map: number, index: number): number {
  return (map + 1) * ITEMS_MAX + index
}

export function isItem(number: number): boolean {
  return number >= ITEMS_MAX
}

/** The number of the map whose item this is. */
export function mapOf(item: number): number {
  return Math.floor(item / ITEMS_MAX) - 1
}

/** The index of an item in its map, from 0. Of a round, one less than its number. */
export function itemIndex(item: number): number {
  return item % ITEMS_MAX
}

/** The step of the definition by which a row is executed: its own for a step, its map for an item. */
export function templateOf(number: number): number {
  return isItem(number) ? mapOf(number) : number
}
