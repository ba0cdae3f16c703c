import type { Database } from '../../database.ts'

/** Issues an invoice with the next number. The same `idempotencyKey` returns the same invoice. */
export async function issue(
  database: Database,
  invoice: { readonly orderId: string; readonly totalCents: number },
  idempotencyKey: string,
) {
  const [issued] = await database.query<{ number: number }>(
    `insert into shop.invoices (idempotency_key, order_id, total_cents) values ($1, $2, $3)
     on conflict (idempotency_key) do update set order_id = excluded.order_id
     returning number`,
    [idempotencyKey, invoice.orderId, invoice.totalCents],
  )
  return { number: issued!.number, totalCents: invoice.totalCents }
}

/** Cancels an invoice. Its row stays, with its number, as bookkeeping demands. */
export async function cancel(database: Database, number: number): Promise<void> {
  await database.query(
    'update shop.invoices set cancelled_at = coalesce(cancelled_at, now()) where number = $1',
    [number],
  )
}
