import type { Database } from '../database.ts'

/** One showing of a part, from its first start to its end, however often the process is killed meanwhile. */
export interface Showing {
  readonly id: number
  /** Calls `measure` the first time, and stores its result under this name. Later calls, also after a restart, return the stored result. */
  remember<T>(name: string, measure: () => Promise<T>): Promise<T>
  /** Ends the showing: the next start begins a new one. */
  finish(): Promise<void>
}

/**
 * Finds the showing under way, or begins one. The keys of its runs contain its id, so a second start finds the runs of the first. `prepare` prepares
 * the tables for a new showing.
 */
export async function currentShowing(
  database: Database,
  schema: 'shop' | 'atlas' | 'towns' | 'gallery',
  prepare: () => Promise<void>,
): Promise<Showing> {
  await createTable(database, schema)
  const unfinished = `select id from ${schema}.showings where finished_at is null`
  const [found] = await database.query<{ id: number }>(unfinished)
  if (found !== undefined) return showing(database, schema, found.id)
  await prepare()
  await database.query(`insert into ${schema}.showings default values on conflict do nothing`)
  const [begun] = await database.query<{ id: number }>(unfinished)
  return showing(database, schema, begun!.id)
}

function showing(database: Database, schema: string, id: number): Showing {
  return {
    id,
    async remember<T>(name: string, measure: () => Promise<T>) {
      const read = async () => {
        const [row] = await database.query<{ fact: { value: T } | null }>(
          `select facts -> $2 as fact from ${schema}.showings where id = $1`,
          [id, name],
        )
        return row?.fact ?? undefined
      }
      const known = await read()
      if (known !== undefined) return known.value
      // On the left of ||, so that the first stored value stays.
      await database.query(
        `update ${schema}.showings set facts = jsonb_build_object($2::text, $3::jsonb) || facts where id = $1`,
        [id, name, JSON.stringify({ value: await measure() })],
      )
      return (await read())!.value
    },
    async finish() {
      await database.query(`update ${schema}.showings set finished_at = now() where id = $1`, [id])
    },
  }
}

async function createTable(database: Database, schema: string): Promise<void> {
  await database.query(`create schema if not exists ${schema}`)
  await database.query(
    `create table if not exists ${schema}.showings (
       id int generated always as identity primary key,
       facts jsonb not null default '{}',
       finished_at timestamptz
     )`,
  )
  await database.query(
    `create unique index if not exists one_showing_at_a_time
     on ${schema}.showings ((finished_at is null)) where finished_at is null`,
  )
}
