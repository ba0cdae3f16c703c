/**
 * The outside world: handlers change it at once, outside the engine's transactions. It is a separate server without faults, so its clock orders all
 * effects. It also holds the trigger's intents, against which the final state is judged.
 */
export const WORLD_TABLES = `
create table calls (id bigserial primary key, key text not null, run_id uuid not null, step text not null, undo boolean not null,
  attempt integer not null, worker text not null, began_at timestamptz not null, ended_at timestamptz);
create table effects (key text primary key, run_id uuid not null, step text not null, undo boolean not null, call_id bigint not null,
  at timestamptz not null default clock_timestamp(), times integer not null default 1);
create table intents (key text primary key, workflow text not null, version integer not null, kind text not null, input json not null,
  state text not null default 'open', run_id uuid);
create table receipts (run_id uuid not null, step text not null, nonce text not null, result text not null);
create table pauses (id bigserial primary key, run_id uuid not null, paused_at timestamptz not null default clock_timestamp(), resumed_at timestamptz);
create table repairs (run_id uuid not null, what text not null, primary key (run_id, what));
create table sightings (what text not null, run_id uuid not null);`

/** The application's own tables, beside the engine's. Entries have no unique key: one written twice appears twice. */
export const APPLICATION_TABLES = `
create table accounts (id integer primary key, cents bigint not null);
create table entries (id bigserial primary key, run_id uuid not null, step text not null, key text not null, account integer not null, cents bigint not null);
create table orders (key text not null);
create table entered (limit_name text not null, key text not null, run_id uuid not null, step integer not null, fence integer not null,
  at_ms double precision not null);
create table lapses (worker text not null, at timestamptz not null);
insert into accounts select number, 100000 from generate_series(0, 7) number;`

/**
 * Notes each attempt that enters a rate, with its instant, in the transaction that lets it in; and when the lease of a worker that was
 * swept had ended. Its handlers may go on: a lease promises no more than that it is over.
 */
export const TRIGGERS = `
create function note_entry() returns trigger language plpgsql as $$
begin
  insert into public.entered (limit_name, key, run_id, step, fence, at_ms) values (new.limit_name, new.key, new.run_id, new.step, new.fence, new.at_ms);
  return null;
end $$;
create trigger note_entry after insert or update on belay.workflow_limit_slots for each row when (not new.is_given and new.at_ms is not null) execute function note_entry();
create function note_lapse() returns trigger language plpgsql as $$
begin
  insert into public.lapses values (new.name, new.lease_expires_at);
  return null;
end $$;
create trigger note_lapse after update of status on belay.workflow_workers
  for each row when (new.status = 'dead' and old.status <> 'dead') execute function note_lapse()`

export const ACCOUNTS = 8
export const OPENING_CENTS = 100_000
