/** A run's tags, read as the JSON text of an array: pg and PGlite read the text of a Postgres array in different ways. */
export function tagsOf(json: string | null): readonly string[] {
  return json === null ? [] : JSON.parse(json)
}
