/**
 * The condition that a row has this step number, beside the one for its run. As a range: before PostgreSQL 17, an index does not have to be searched
 * for the values of a list, and a plan that was made while the table was small filters by it. Then each lookup reads all rows of its run, which may be
 * 60,000. Equality would allow joins that read the whole table.
 */
export function stepIs(row: string, step: string): string {
  return `${row}.step >= ${step} and ${row}.step <= ${step}`
}
