/** A run's tags, from the JSON text of an array: pg and PGlite decode Postgres arrays differently. */
export function tagsOf(json: string | null): readonly string[] {
  return json === null ? [] : JSON.parse(json)
}
