import type { Database } from '../../database.ts'
import { type ChunkDigest, digestSql } from './city.ts'
import type { Source } from './source.ts'

/** Announces an edition. Repeating it changes nothing. */
export async function openEdition(database: Database, edition: number, source: Source): Promise<void> {
  await database.query(
    'insert into atlas.editions (edition, source) values ($1, $2) on conflict (edition) do nothing',
    [edition, source],
  )
}

/** Withdraws the announcement. */
export async function closeEdition(database: Database, edition: number): Promise<void> {
  await database.query('delete from atlas.editions where edition = $1', [edition])
}

/** Indexes a loaded edition for its readers. The unique index also proves that no city is in two chunks. */
export async function indexEdition(database: Database, edition: number): Promise<void> {
  const { byId, byName } = indexNames(edition)
  await database.query(
    `create unique index if not exists ${byId} on atlas.cities (city_id) where edition = ${edition}`,
  )
  await database.query(
    `create index if not exists ${byName} on atlas.cities (name) where edition = ${edition}`,
  )
}

export async function dropIndexes(database: Database, edition: number): Promise<void> {
  const { byId, byName } = indexNames(edition)
  await database.query(`drop index if exists atlas.${byId}, atlas.${byName}`)
}

/** Digests of an edition's rows in the table, chunk by chunk. */
export function readDigests(database: Database, edition: number): Promise<readonly ChunkDigest[]> {
  return database.query<ChunkDigest>(
    `select chunk, count(*)::int as rows, ${digestSql} as digest
     from atlas.cities where edition = $1 group by chunk order by chunk`,
    [edition],
  )
}

// DDL takes no parameters, so the edition becomes part of the text. It must be a number and nothing else.
function indexNames(edition: number) {
  if (!Number.isSafeInteger(edition)) throw new TypeError(`An edition is a whole number, got ${edition}.`)
  return { byId: `cities_${edition}_by_id`, byName: `cities_${edition}_by_name` }
}
