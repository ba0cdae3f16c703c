const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether a text has the form of a run id. In a statement, Postgres would raise an error for any other text instead of finding nothing. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
