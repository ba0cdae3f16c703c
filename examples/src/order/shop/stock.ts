import type { Database } from '../../database.ts'
import type { Order } from './order.ts'

/** Sets goods aside for an order. The same `reservationId` reserves once. */
export async function reserve(database: Database, order: Order, reservationId: string) {
  // One statement, so that the reservation and the shelf change together. A repetition inserts no row, and so takes nothing.
  await database.query(
    `with reserved as (
       insert into shop.reservations (reservation_id, order_id, sku, quantity)
       select $1, $2, sku, quantity from json_to_recordset($3::json) as item (sku text, quantity int)
       on conflict (reservation_id, sku) do nothing
       returning sku, quantity
     )
     update shop.stock set available = stock.available - reserved.quantity
     from reserved where stock.sku = reserved.sku`,
    [reservationId, order.id, JSON.stringify(order.items)],
  )
  const [total] = await database.query<{ cents: number }>(
    `select sum(quantity * price_cents)::int as cents
     from shop.reservations join shop.stock using (sku) where reservation_id = $1`,
    [reservationId],
  )
  return { reservationId, totalCents: total!.cents }
}

/** Returns the goods of a reservation to the shelf, once. */
export async function release(database: Database, reservationId: string): Promise<void> {
  await database.query(
    `with released as (
       update shop.reservations set released_at = now()
       where reservation_id = $1 and released_at is null
       returning sku, quantity
     )
     update shop.stock set available = stock.available + released.quantity
     from released where stock.sku = released.sku`,
    [reservationId],
  )
}
