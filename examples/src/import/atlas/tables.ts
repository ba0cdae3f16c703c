import type { Database } from '../../database.ts'

const TABLES = [
  'create schema if not exists atlas',
  `create table if not exists atlas.editions (
     edition int primary key,
     source text not null,
     opened_at timestamptz not null default now()
   )`,
  // The primary key serves loading, repeating and undoing one chunk. The readers' indexes are created once an edition is complete.
  `create table if not exists atlas.cities (
     edition int not null,
     chunk text not null,
     city_id int not null,
     name text not null,
     country text not null,
     population int not null,
     latitude double precision not null,
     longitude double precision not null,
     primary key (edition, chunk, city_id)
   )`,
  // The import's own log: it survives an undo, so it can report on it.
  `create table if not exists atlas.load_log (
     edition int not null,
     chunk text not null,
     rows_loaded int not null default 0,
     rows_removed int not null default 0,
     primary key (edition, chunk)
   )`,
]

/** Creates missing tables; changes nothing that exists. */
export async function createAtlasTables(database: Database): Promise<void> {
  for (const statement of TABLES) await database.query(statement)
}

/** Drops the atlas's tables. */
export async function dropAtlasTables(database: Database): Promise<void> {
  await database.query('drop table if exists atlas.editions, atlas.cities, atlas.load_log')
}

/** What must be the same before an import and after its undo. */
export interface AtlasState {
  readonly editions: number
  readonly cities: number
  readonly digest: string
  readonly indexes: number
}

export async function readState(database: Database): Promise<AtlasState> {
  const [state] = await database.query<AtlasState>(
    `select (select count(*)::int from atlas.editions) as editions,
            (select count(*)::int from atlas.cities) as cities,
            (select md5(coalesce(string_agg(c::text, E'\\n' order by edition, chunk, city_id), '')) from atlas.cities c) as digest,
            (select count(*)::int from pg_indexes where schemaname = 'atlas' and tablename = 'cities') as indexes`,
  )
  return state!
}

export interface LoadLog {
  readonly chunk: string
  readonly rows_loaded: number
  readonly rows_removed: number
}

export function readLoadLog(database: Database, edition: number): Promise<readonly LoadLog[]> {
  return database.query<LoadLog>(
    'select chunk, rows_loaded, rows_removed from atlas.load_log where edition = $1 order by chunk',
    [edition],
  )
}
