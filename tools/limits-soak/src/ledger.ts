import type pg from 'pg'

/** What handlers note down, in a table of the application. */
export const LEDGER_TABLES = `
create table soak_handlers (
  id bigint generated always as identity primary key,
  lim text not null,
  key text not null,
  run_id uuid not null,
  worker text not null,
  -- The process's clock as the handler began. One machine: it is the database's clock too.
  process_at timestamptz not null,
  begun_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz
);
create table soak_processes (
  worker text not null,
  -- When nothing of this worker ran any more, because it was killed; or when it held nothing any more, because its lease was over.
  over_at timestamptz not null
);
create function soak_note_lost() returns trigger language plpgsql as $$
begin
  insert into soak_processes values (new.name, new.lease_expires_at);
  return null;
end
$$;
-- Whoever stood still, or had no processor for so long, may go on with its handlers: a lease promises no more than that it is over.
create trigger soak_lost after update of status on belay.workflow_workers
  for each row when (new.status = 'dead' and old.status <> 'dead') execute function soak_note_lost()`

/** One call of a handler, by the database's clock. */
export interface HandlerCall {
  readonly limit: string
  readonly key: string
  readonly runId: string
  readonly worker: string
  readonly fromMs: number
  /** When it ended, or when its process was killed or lost its lease. */
  readonly toMs: number
}

/** Notes a call of a handler under these limits, does its work, and notes its end. */
export async function noted(
  pool: pg.Pool,
  call: {
    readonly worker: string
    readonly runId: string
    readonly limits: readonly (readonly [string, string])[]
  },
  work: () => Promise<void>,
): Promise<void> {
  const processAt = new Date()
  const { rows } = await pool.query<{ id: string }>(
    `insert into soak_handlers (lim, key, run_id, worker, process_at)
     select l.lim, l.key, $3::uuid, $4, $5 from unnest($1::text[], $2::text[]) l(lim, key) returning id`,
    [
      call.limits.map(([limit]) => limit),
      call.limits.map(([, key]) => key),
      call.runId,
      call.worker,
      processAt,
    ],
  )
  await work()
  await pool.query('update soak_handlers set ended_at = clock_timestamp() where id = any ($1::bigint[])', [
    rows.map(({ id }) => id),
  ])
}

/** All calls. One without an end ended when its process was killed; one that went on after its worker's lease counts until the lease was over. */
export async function readCalls(database: pg.Pool): Promise<readonly HandlerCall[]> {
  const { rows } = await database.query<{
    lim: string
    key: string
    run_id: string
    worker: string
    from_ms: number
    to_ms: number
  }>(`
    select h.lim, h.key, h.run_id::text, h.worker, extract(epoch from b.from_at)::float8 * 1000 as from_ms,
      extract(epoch from least(h.ended_at, o.over_at, clock_timestamp()))::float8 * 1000 as to_ms
    from soak_handlers h
    -- A note that the process sent before it was frozen, or that waited for a connection, is later than the handler's beginning.
    cross join lateral (select case when h.begun_at - h.process_at > interval '1 second' then h.process_at else h.begun_at end as from_at) b
    left join lateral (
      select min(p.over_at) as over_at from soak_processes p where p.worker = h.worker and p.over_at >= b.from_at
    ) o on true`)
  return rows.map((row) => ({
    limit: row.lim,
    key: row.key,
    runId: row.run_id,
    worker: row.worker,
    fromMs: row.from_ms,
    toMs: row.to_ms,
  }))
}
