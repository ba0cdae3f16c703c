import type { Database } from '../../database.ts'
import { type BadRow, type Range, readRange } from './ranges.ts'

export { BAD_LINES, writeCsv } from './csv-file.ts'
export { type BadRow, type Range, rangesOf } from './ranges.ts'

const TABLES = [
  'create schema if not exists towns',
  `create table if not exists towns.towns (
     import text not null,
     line int not null,
     id int not null,
     name text not null,
     country text not null,
     population int not null,
     latitude double precision not null,
     longitude double precision not null,
     primary key (import, line)
   )`,
  // It survives an undo: whoever has to correct the file needs it then most of all.
  `create table if not exists towns.bad_rows (
     import text not null,
     line int not null,
     why text not null,
     primary key (import, line)
   )`,
]

/** Most lines of a range are bad: this is no table of towns, or not here. Trying again would not help. */
export class NoTableError extends Error {
  override readonly name = 'NoTableError'
}

export async function createTownTables(database: Database): Promise<void> {
  for (const statement of TABLES) await database.query(statement)
}

export async function dropTownTables(database: Database): Promise<void> {
  await database.query('drop table if exists towns.towns, towns.bad_rows')
}

/** How many rows of a range were good, and how many bad. */
export interface Counted {
  readonly good: number
  readonly bad: number
}

/**
 * Inserts the good rows of a range, and notes the bad ones with their reasons. Repeating it changes nothing. Throws {@link NoTableError}, and inserts
 * nothing, if most of its rows are bad.
 */
export async function loadRange(
  database: Database,
  { name, file, range }: { readonly name: string; readonly file: string; readonly range: Range },
): Promise<Counted> {
  const { rows, bad } = await readRange(file, range)
  if (bad.length > rows.length) {
    const last = range.line + rows.length + bad.length - 1
    throw new NoTableError(
      `lines ${range.line} to ${last}: ${bad.length} are bad; line ${bad[0]!.line} ${bad[0]!.why}`,
    )
  }
  await database.query(
    `with noted as (
       insert into towns.bad_rows (import, line, why)
       select $1, line, why from json_to_recordset($3::json) as bad (line int, why text)
       on conflict do nothing
     )
     insert into towns.towns (import, line, id, name, country, population, latitude, longitude)
     select $1, line, id, name, country, population, latitude, longitude
     from json_to_recordset($2::json) as town
       (line int, id int, name text, country text, population int, latitude double precision, longitude double precision)
     on conflict do nothing`,
    [name, JSON.stringify(rows), JSON.stringify(bad)],
  )
  return { good: rows.length, bad: bad.length }
}

/** Deletes all rows of an import. The list of its bad rows stays. */
export async function unload(database: Database, name: string): Promise<void> {
  await database.query('delete from towns.towns where import = $1', [name])
}

export async function countTowns(database: Database, name: string): Promise<number> {
  const [counted] = await database.query<{ count: number }>(
    'select count(*)::int as count from towns.towns where import = $1',
    [name],
  )
  return counted!.count
}

export function readBadRows(database: Database, name: string): Promise<readonly BadRow[]> {
  return database.query<BadRow>('select line, why from towns.bad_rows where import = $1 order by line', [
    name,
  ])
}
