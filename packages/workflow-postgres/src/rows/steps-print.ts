/**
 * The aggregate of step rows that changes when the status of one of them changes, or one of its counts. A sum of hashes: watchers ask for it each tick,
 * and to sort and join texts of 60,000 rows would take more than twice the time. Shifts do not overflow.
 */
export function stepsPrint(row: string): string {
  const both = (one: string, other: string) => `(${one})::bigint << 32 | ${other}`
  const counts = both(`${row}.failures`, `${row}.losses`)
  const undoCounts = both(`coalesce(${row}.undo_failures, 0)`, `coalesce(${row}.undo_losses, 0)`)
  return `sum(hashint8extended(${both(`${row}.fence`, `${row}.step`)}, hashint8extended(${counts},
      hashint8extended(${undoCounts}, hashtextextended(${row}.status, 0)))))::text`
}
