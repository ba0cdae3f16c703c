import { pglite } from '@belay/workflow-postgres/pglite'
import { PGlite } from '@electric-sql/pglite'

/** The shop's outside world. `calls` counts calls with the same key: the first has its effect. */
const SHOP = `
create schema shop;
create table shop.services (name text primary key, open boolean not null default true);
insert into shop.services (name) values ('card'), ('stock'), ('mail');
create table shop.ledger (
  id int generated always as identity,
  key text primary key,
  at timestamptz not null default clock_timestamp(),
  service text not null references shop.services,
  what text not null,
  amount int not null,
  "order" text not null,
  worker text not null,
  calls int not null default 1
);`

/** A database in which Belay's tables and the shop's stand, as an archive that PGlite loads: initdb takes five seconds in a browser. */
export async function makeSnapshot() {
  const database = await PGlite.create()
  const adapter = pglite(database)
  await adapter.migrate()
  await adapter.close()
  await database.exec(SHOP)
  await database.exec('vacuum')
  await database.exec('checkpoint')
  const archive = await database.dumpDataDir('gzip')
  await database.close()
  return Buffer.from(await archive.arrayBuffer())
}
