import type { Database } from '../database.ts'

/** The stock of each article's shelf. */
export async function readShelves(database: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await database.query<{ sku: string; available: number }>(
    'select sku, available from shop.stock order by sku',
  )
  return Object.fromEntries(rows.map(({ sku, available }) => [sku, available]))
}

/** Everything that the shop's tables contain about one order, in one row. */
export interface OrderAccount {
  readonly reserved: number
  readonly released: number
  readonly charges: number
  readonly refunds: number
  readonly balance_cents: number
  readonly valid_invoices: number
  readonly cancelled_invoices: number
  readonly mails: number
  readonly sales: number
}

export async function readAccount(database: Database, orderId: string): Promise<OrderAccount> {
  const [account] = await database.query<OrderAccount>(
    `select (select coalesce(sum(quantity), 0)::int from shop.reservations where order_id = $1) as reserved,
            (select coalesce(sum(quantity), 0)::int from shop.reservations where order_id = $1 and released_at is not null) as released,
            (select count(*)::int from shop.payments where order_id = $1 and kind = 'charge') as charges,
            (select count(*)::int from shop.payments where order_id = $1 and kind = 'refund') as refunds,
            (select coalesce(sum(amount_cents), 0)::int from shop.payments where order_id = $1) as balance_cents,
            (select count(*)::int from shop.invoices where order_id = $1 and cancelled_at is null) as valid_invoices,
            (select count(*)::int from shop.invoices where order_id = $1 and cancelled_at is not null) as cancelled_invoices,
            (select count(*)::int from shop.mails where order_id = $1) as mails,
            (select count(*)::int from shop.analytics where order_id = $1) as sales`,
    [orderId],
  )
  return account!
}

/** A request that the card network received. */
export interface CardRequest {
  /** Its idempotency key. */
  readonly charge_id: string
  /** The `application_name` of the connection. */
  readonly asked_by: string
  readonly moved_cents: number
}

/** The card network's own log of an order's charges, in the order in which they came. */
export function readCardRequests(database: Database, orderId: string): Promise<readonly CardRequest[]> {
  return database.query(
    'select charge_id, asked_by, moved_cents from shop.card_requests where order_id = $1 order by request',
    [orderId],
  )
}
