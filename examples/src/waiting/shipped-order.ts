import { type Duration, define } from '@belay/workflow'
import { z } from 'zod'
import type { Effects } from './effects.ts'

const orderSchema = z.object({ customer: z.string(), totalCents: z.number().int().positive() })

/** What the carrier's webhook sends once the parcel is on its way. */
const shipmentSchema = z.object({ tracking: z.string().min(1) })

/**
 * An order that waits for days: for the carrier's webhook, and then for the customer to have opened the parcel.
 *
 *     charge ─▶ shipped (signal, a week) ─▶ tellCustomer ─▶ unpacking (sleep, three days) ─▶ askForReview
 *
 * Without the webhook it fails after a week, and the money goes back.
 */
export function shippedOrder(
  { act }: Effects,
  times: { readonly unpacking: Duration } = { unpacking: '3d' },
) {
  return define('shipped-order', { version: 1, input: orderSchema })
    .step('charge', {
      run: ({ input, idempotencyKey }) =>
        act(`charged ${input.totalCents} to ${input.customer}`, idempotencyKey),
      compensateOn: 'started',
      compensate: ({ input, idempotencyKey }) =>
        act(`refunded ${input.totalCents} to ${input.customer}`, idempotencyKey),
    })
    .waitForSignal('shipped', { dependsOn: ['charge'], schema: shipmentSchema, timeout: '7d' })
    .step('tellCustomer', {
      dependsOn: ['shipped'],
      run: ({ deps, idempotencyKey }) => act(`mail: on its way as ${deps.shipped.tracking}`, idempotencyKey),
    })
    .sleep('unpacking', { dependsOn: ['tellCustomer'], for: times.unpacking })
    .step('askForReview', {
      dependsOn: ['unpacking'],
      run: ({ idempotencyKey }) => act('mail: how do you like it?', idempotencyKey),
    })
}
