import type { Database } from '../../database.ts'
import type { Chunk } from './chunks.ts'
import { type ChunkDigest, type City, checkCities, digestOf } from './city.ts'
import { readChunk, type Source } from './source.ts'

const BATCH_ROWS = 1_000

export interface ChunkLoad {
  readonly edition: number
  readonly source: Source
  readonly chunk: Chunk
}

/**
 * Checks and inserts the cities of one chunk, a batch at a time. Repeating it after a crash inserts what is missing. Throws `BadRecordsError`,
 * possibly after earlier batches were inserted, and the signal's reason.
 */
export async function loadChunk(
  database: Database,
  { edition, source, chunk }: ChunkLoad,
  watch: { readonly signal: AbortSignal; readonly onRows: (rows: number) => void },
): Promise<ChunkDigest> {
  const records = readChunk(source, chunk)
  const seen = new Set<number>()
  for (let from = 0; from < records.length; from += BATCH_ROWS) {
    watch.signal.throwIfAborted()
    const batch = checkCities(records.slice(from, from + BATCH_ROWS), seen)
    watch.onRows(await insertBatch(database, { edition, chunk, batch }))
  }
  return { chunk, rows: records.length, digest: digestOf(records) }
}

/** Deletes exactly the rows of one chunk, and returns how many. */
export async function unloadChunk(
  database: Database,
  { edition, chunk }: { readonly edition: number; readonly chunk: Chunk },
): Promise<number> {
  const [removed] = await database.query<{ count: number }>(
    `with removed as (
       delete from atlas.cities where edition = $1 and chunk = $2 returning 1
     ), counted as (
       select count(*)::int as count from removed
     ), logged as (
       update atlas.load_log set rows_removed = rows_removed + counted.count from counted
       where edition = $1 and chunk = $2
     )
     select count from counted`,
    [edition, chunk],
  )
  return removed!.count
}

async function insertBatch(
  database: Database,
  { edition, chunk, batch }: { edition: number; chunk: Chunk; batch: readonly City[] },
): Promise<number> {
  // One statement inserts the rows and logs their count: a crash leaves both or neither.
  const [loaded] = await database.query<{ count: number }>(
    `with loaded as (
       insert into atlas.cities (edition, chunk, city_id, name, country, population, latitude, longitude)
       select $1, $2, id, name, country, population, latitude, longitude
       from json_to_recordset($3::json) as city
         (id int, name text, country text, population int, latitude double precision, longitude double precision)
       on conflict (edition, chunk, city_id) do nothing
       returning 1
     ), counted as (
       select count(*)::int as count from loaded
     ), logged as (
       insert into atlas.load_log (edition, chunk, rows_loaded)
       select $1, $2, count from counted
       on conflict (edition, chunk) do update set rows_loaded = load_log.rows_loaded + excluded.rows_loaded
     )
     select count from counted`,
    [edition, chunk, JSON.stringify(batch)],
  )
  return loaded!.count
}
