import type { Written } from '@belay/testing/simulation'

/** Runs SQL, and resolves to the rows. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly object[]>

/** Adds to Belay's schema what a world needs: a clock that the world moves, and an application's table. */
export async function prepare(query: Query, schema: string): Promise<void> {
  await query(`create table "${schema}".simulated_clock (at timestamptz not null)`)
  await query(`insert into "${schema}".simulated_clock values (to_timestamp(0))`)
  await query(
    `create table "${schema}".simulated_writes (run_id uuid not null, step text not null, outcome text not null, key text not null)`,
  )
  for (const reading of [
    'store_now() returns timestamptz language sql stable',
    'store_clock() returns timestamptz language sql volatile',
  ]) {
    await query(
      `create or replace function "${schema}".${reading} parallel safe as $$ select at from "${schema}".simulated_clock $$`,
    )
  }
}

export async function setTime(query: Query, schema: string, now: number): Promise<void> {
  await query(`update "${schema}".simulated_clock set at = to_timestamp($1::float8 / 1000)`, [now])
}

export async function write(query: Query, schema: string, written: Written): Promise<void> {
  const { runId, step, outcome, key } = written
  await query(`insert into "${schema}".simulated_writes values ($1, $2, $3, $4)`, [runId, step, outcome, key])
}

export async function readWritten(query: Query, schema: string): Promise<readonly Written[]> {
  const rows = await query(`select run_id as "runId", step, outcome, key from "${schema}".simulated_writes`)
  return rows as readonly Written[]
}

/** Empties a schema for the next world: creating one takes longer than most worlds. */
export async function empty(query: Query, schema: string): Promise<void> {
  const tables = (await query(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname = $1 and tablename !~ 'migrations|clock'`,
    [schema],
  )) as readonly { readonly name: string }[]
  await query(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity`)
}
