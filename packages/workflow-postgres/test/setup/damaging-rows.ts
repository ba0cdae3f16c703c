import type pg from 'pg'
import { expect } from 'vitest'

/** One value of one run's row. */
export interface Torn {
  readonly schema: string
  readonly table: string
  readonly column: string
  readonly runId: string
}

/**
 * Makes one value unreadable, as a lost sector does: the row says where its large value is, and the value is not there. No other row of the table may
 * have a large value. Needs a superuser.
 */
export async function tearValue(pool: pg.Pool, { schema, table, column, runId }: Torn): Promise<void> {
  const name = `${schema}.${table}`
  const { rows } = await pool.query<{ constraint: string }>(
    `select conname as constraint from pg_constraint where conrelid = $1::regclass and contype = 'c'`,
    [name],
  )
  for (const { constraint } of rows) await pool.query(`alter table ${name} drop constraint ${constraint}`)
  await pool.query(`alter table ${name} alter column ${column} set storage external`)
  const key = table === 'workflow_runs' ? 'id' : 'run_id'
  const { rowCount } = await pool.query(
    `update ${name} t set ${column} = v.value
     from (select (jsonb_populate_record(null::${name}, jsonb_build_object('${column}', repeat('x', 9000)))).${column} as value) v
     where t.${key} = $1`,
    [runId],
  )
  if (rowCount === 0) throw new Error(`Run ${runId} has no row in ${name}.`)
  const { rows: found } = await pool.query<{ values: string }>(
    'select reltoastrelid::regclass::text as values from pg_class where oid = $1::regclass',
    [name],
  )
  const values = found[0]!.values
  const become = (kind: string) =>
    pool.query('update pg_class set relkind = $2 where oid = $1::regclass', [values, kind])
  await become('r')
  await pool.query(`delete from ${values}`)
  await become('t')
  // Until they are vacuumed away, deleted parts are read all the same.
  const read = `select ${column}::text from ${name} where ${key} = $1`
  await expect
    .poll(async () => {
      await pool.query(`vacuum ${name}`)
      return pool.query(read, [runId]).then(
        () => 'readable',
        ({ code }) => code,
      )
    })
    .toBe(DATA_CORRUPTED)
}

const DATA_CORRUPTED = 'XX001'

/** Makes the rows of one run unreadable in a table, as an invalid page does, for a role that neither owns the table nor is a superuser. */
export async function hideRows(pool: pg.Pool, { schema, table, runId }: Omit<Torn, 'column'>): Promise<void> {
  const key = table === 'workflow_runs' ? 'id' : 'run_id'
  await pool.query(`
    create function ${schema}.read_row(run_id uuid) returns bool language plpgsql as $$
    begin
      if run_id = '${runId}' then raise exception 'invalid page in block 7' using errcode = '${DATA_CORRUPTED}'; end if;
      return true;
    end $$;
    create policy unreadable on ${schema}.${table} using (${schema}.read_row(${key}));
    alter table ${schema}.${table} enable row level security`)
}
