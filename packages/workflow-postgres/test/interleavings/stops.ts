import type { Pool } from 'pg'

/** The tables of runs and workers: all except the definitions and those about the schema. */
export async function liveTables(pool: Pool, schema: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = $1 and tablename !~ 'definition|migration|meta' order by tablename`,
    [schema],
  )
  return rows.map(({ name }) => `${schema}.${name}`)
}

/**
 * Makes every writing statement pass points at which a session can be stopped: before its first write to each table, when it has its snapshot and few
 * locks or none; and after all its writes, when it has its locks and has not committed. Statement triggers do that: they change no plan, and they run
 * in the middle of a statement, where no client can stop it.
 *
 * A session without an observer passes them without a stop.
 */
export async function installStops(pool: Pool, schema: string): Promise<void> {
  const tables = await liveTables(pool, schema)
  const triggers = tables.flatMap((table) =>
    ['before', 'after'].map(
      (when) => `create trigger order_${when} ${when} insert or update or delete on ${table}
        for each statement execute function ${schema}.order_point()`,
    ),
  )
  await pool.query([createFunction(schema), ...triggers].join(';'))
}

/** Prepares the next statement of a session: sets where it stops, and resets its points. */
export const ARM = `select pg_backend_pid() as pid, set_config('order.stop_at', $1, false), set_config('order.lock', $2, false),
  set_config('order.seen', '0', false), set_config('order.points', '', false), set_config('order.written', '', false)`

export const READ_POINTS = `select string_to_array(nullif(current_setting('order.points'), ''), ',') as points`

// The function has no lock timeout, so that the session's limits cannot end a stop: the test ends it.
function createFunction(schema: string): string {
  return `create function ${schema}.order_point() returns trigger language plpgsql set lock_timeout = 0 as $$
declare
  stop_at text := coalesce(current_setting('order.stop_at', true), '');
  point text := lower(tg_op) || ' ' || tg_table_name;
  points text;
begin
  if stop_at = '' then return null; end if;
  if tg_when = 'AFTER' then
    -- All of these fire at the statement's end: one of them is enough.
    if current_setting('order.written') = statement_timestamp()::text then return null; end if;
    perform set_config('order.written', statement_timestamp()::text, false);
    point := 'end';
  end if;
  points := concat_ws(',', nullif(current_setting('order.points'), ''), point);
  perform set_config('order.points', points, false);
  perform set_config('order.seen', (current_setting('order.seen')::int + 1)::text, false);
  if current_setting('order.seen') = stop_at then
    perform pg_advisory_lock_shared(current_setting('order.lock')::bigint);
    perform pg_advisory_unlock_shared(current_setting('order.lock')::bigint);
  end if;
  return null;
end $$`
}
