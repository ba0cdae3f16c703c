import type pg from 'pg'

/** How the rows of one run are refused: by the SQLSTATE of the error, on writes for which `when` holds. */
export interface RowRefusal {
  readonly schema: string
  readonly table: string
  readonly on: 'insert' | 'update' | 'insert or update'
  /** A condition on `new`. */
  readonly when: string
  readonly code: string
}

/** Adds a trigger that refuses these rows. Returns a function that removes it. */
export async function refuseRows(
  pool: pg.Pool,
  { schema, table, on, when, code }: RowRefusal,
): Promise<() => Promise<void>> {
  await pool.query(`
create function ${schema}.refuse_row() returns trigger language plpgsql as $$
begin
  if ${when} then raise exception 'refused by a test' using errcode = '${code}'; end if;
  return new;
end $$;
create trigger refused_row before ${on} on ${schema}.${table} for each row execute function ${schema}.refuse_row()`)
  return async () => {
    await pool.query(`drop trigger refused_row on ${schema}.${table}; drop function ${schema}.refuse_row()`)
  }
}
