import type { Database } from '../../database.ts'

export interface Charge {
  readonly orderId: string
  readonly card: string
  readonly amountCents: number
}

/** What the card network does with a charge. */
export interface CardNetwork {
  /** How long it takes to answer if its line is lossy; then it does not answer at all. */
  readonly silentMs: number
}

/** Charges a card. The same `chargeId` charges once, however often it is sent. The card network logs each request. */
export async function charge(
  database: Database,
  { orderId, card, amountCents }: Charge,
  chargeId: string,
  { silentMs }: CardNetwork,
) {
  const made = await database.query(
    `with moved as (
       insert into shop.payments (payment_id, order_id, kind, amount_cents) values ($1, $2, 'charge', $3)
       on conflict (payment_id) do nothing
       returning amount_cents
     ), logged as (
       insert into shop.card_requests (charge_id, order_id, moved_cents)
       values ($1, $2, coalesce((select amount_cents from moved), 0))
     )
     select amount_cents from moved`,
    [chargeId, orderId, amountCents],
  )
  // The classic failure of payments: the money has moved, but the answer is lost. A retry with the same id learns that.
  if (made.length === 1 && card.endsWith('lossy-line')) {
    await new Promise((resume) => setTimeout(resume, silentMs))
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
