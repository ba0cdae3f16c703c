import type pg from 'pg'

/** Everything that happened in an hour may be much to read: other statements of the supervisor have a shorter limit. */
const READ_MS = 120_000

/** Reads many rows. */
export async function rows<Row extends object>(from: pg.Pool, text: string): Promise<Row[]> {
  const bounded: pg.QueryConfig & { readonly query_timeout: number } = { text, query_timeout: READ_MS }
  return (await from.query<Row>(bounded)).rows
}
