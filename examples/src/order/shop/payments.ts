import type { Database } from '../../database.ts'

export interface Charge {
  readonly orderId: string
  readonly card: string
  readonly amountCents: number
}

/** Charges a card. The same `chargeId` charges once, however often it is sent. */
export async function charge(database: Database, { orderId, card, amountCents }: Charge, chargeId: string) {
  const made = await database.query(
    `insert into shop.payments (payment_id, order_id, kind, amount_cents) values ($1, $2, 'charge', $3)
     on conflict (payment_id) do nothing
     returning payment_id`,
    [chargeId, orderId, amountCents],
  )
  // The classic failure of payments: the money has moved, but the answer is lost. A retry with the same id learns that.
  if (made.length === 1 && card.endsWith('lossy-line')) {
    throw new Error('504: the card network did not answer in time')
  }
  return { chargeId, amountCents }
}

/** Refunds whatever was charged for an order. The same `refundId` refunds once. */
export async function refund(database: Database, orderId: string, refundId: string): Promise<void> {
  await database.query(
    `insert into shop.payments (payment_id, order_id, kind, amount_cents)
     select $1, order_id, 'refund', -amount_cents from shop.payments where order_id = $2 and kind = 'charge'
     on conflict (payment_id) do nothing`,
    [refundId, orderId],
  )
}
