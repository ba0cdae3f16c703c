const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Tells whether a run id that a person gave can be one at all: Postgres refuses the rest, where nothing is found. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
