import type { Database } from '../../database.ts'

const TABLES = [
  'create schema if not exists shop',
  `create table if not exists shop.stock (
     sku text primary key,
     title text not null,
     price_cents int not null,
     available int not null constraint stock_is_never_oversold check (available >= 0)
   )`,
  `create table if not exists shop.reservations (
     reservation_id text not null,
     order_id text not null,
     sku text not null references shop.stock,
     quantity int not null,
     released_at timestamptz,
     primary key (reservation_id, sku)
   )`,
  `create table if not exists shop.payments (
     payment_id text primary key,
     order_id text not null,
     kind text not null check (kind in ('charge', 'refund')),
     amount_cents int not null
   )`,
  `create table if not exists shop.card_requests (
     request int generated always as identity primary key,
     charge_id text not null,
     order_id text not null,
     asked_by text not null default current_setting('application_name'),
     moved_cents int not null
   )`,
  `create table if not exists shop.invoices (
     number int generated always as identity primary key,
     idempotency_key text not null unique,
     order_id text not null,
     total_cents int not null,
     cancelled_at timestamptz
   )`,
  `create table if not exists shop.mails (
     mail_id text primary key,
     order_id text not null,
     recipient text not null,
     subject text not null
   )`,
  `create table if not exists shop.analytics (
     order_id text primary key,
     revenue_cents int not null
   )`,
]

/** The shop's articles, and how many of each it has when it opens. */
export const CATALOGUE = [
  { sku: 'rope-60m', title: 'Climbing rope, 60 m', priceCents: 18_900, available: 12 },
  { sku: 'belay-device', title: 'Belay device', priceCents: 3_450, available: 40 },
  { sku: 'carabiner', title: 'Locking carabiner', priceCents: 1_290, available: 200 },
] as const

/** Creates missing tables; changes nothing that exists. */
export async function createShopTables(database: Database): Promise<void> {
  for (const statement of TABLES) await database.query(statement)
}

/** Fills the shelves up to the catalogue's numbers. */
export async function restock(database: Database): Promise<void> {
  await database.query(
    `insert into shop.stock (sku, title, price_cents, available)
     select sku, title, "priceCents", available
     from json_to_recordset($1::json) as item (sku text, title text, "priceCents" int, available int)
     on conflict (sku) do update set available = excluded.available, price_cents = excluded.price_cents`,
    [JSON.stringify(CATALOGUE)],
  )
}
