import type { Database } from '../../database.ts'

/** Counts a sale, once per order. */
export async function recordSale(database: Database, orderId: string, revenueCents: number): Promise<void> {
  await database.query(
    `insert into shop.analytics (order_id, revenue_cents) values ($1, $2) on conflict (order_id) do nothing`,
    [orderId, revenueCents],
  )
}

/** Removes a sale from the figures. */
export async function removeSale(database: Database, orderId: string): Promise<void> {
  await database.query('delete from shop.analytics where order_id = $1', [orderId])
}
