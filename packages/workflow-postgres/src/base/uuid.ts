const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Whether a text has the form of a run id. In a statement, Postgres would raise an error for any other text instead of finding nothing. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

// A run is no stray if its id was made at most two minutes before the run was created and at most one after. The time in an id is exact to 66 s.
export const MADE_BEFORE_MS = 120_000
export const MADE_AFTER_MS = 126_000

const ID_MS_MAX = 2 ** 48 - 1

/** Ids with this prefix, 1 to 32 hex digits: `from` inclusive, `until` exclusive and undefined if no id is greater. */
export function idsWith(prefix: string): { readonly from: string; readonly until: string | undefined } {
  const until = (BigInt(`0x${prefix}`) + 1n).toString(16).padStart(prefix.length, '0')
  return { from: idOf(prefix), until: until.length > prefix.length ? undefined : idOf(until) }
}

/** The smallest id that is greater; undefined if there is none. */
export function idAfter(id: string): string | undefined {
  return idsWith(id.replaceAll('-', '')).until
}

function idOf(digits: string): string {
  return digits.padEnd(32, '0').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The smallest id that can be made in that millisecond. */
export function idAt(epochMs: number): string {
  const ms = Math.min(Math.max(Math.floor(epochMs), 0), ID_MS_MAX)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
