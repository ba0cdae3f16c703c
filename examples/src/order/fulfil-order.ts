import { define, PermanentError } from '@belay/workflow'
import { orderSchema, type Shop } from './shop/index.ts'

/**
 * What happens to an order, and what takes it back if a later step fails:
 *
 *     reserveStock ─┐                              ┌─▶ sendMail
 *                   ├─▶ chargeCard ─▶ issueInvoice ┤
 *     checkFraud  ──┘                              └─▶ updateAnalytics
 */
// Longer than other functions: a workflow is read as one piece.
export function fulfilOrder(shop: Shop) {
  return define('fulfil-order', { version: 1, input: orderSchema })
    .step('reserveStock', {
      run: ({ input, idempotencyKey: key }) => shop.stock.reserve(input, key),
      compensate: ({ output }) => shop.stock.release(output.reservationId),
    })
    .step('checkFraud', {
      run: async ({ input }) => {
        const { score, suspicious } = await shop.fraud.check(input)
        // A second check would give the same answer, so there is no retry.
        if (suspicious) throw new PermanentError(`Fraud score ${score}.`)
        return { score }
      },
    })
    .step('chargeCard', {
      dependsOn: ['reserveStock', 'checkFraud'],
      retry: { attempts: 5, initial: '500ms', max: '5s' },
      timeout: '20s',
      run: ({ input, deps, idempotencyKey }) =>
        shop.payments.charge(
          { orderId: input.id, card: input.card, amountCents: deps.reserveStock.totalCents },
          idempotencyKey,
        ),
      // A charge that seems to have failed may have been made, with only its answer lost. So it is undone in either case.
      compensateOn: 'started',
      compensate: ({ input, idempotencyKey }) => shop.payments.refund(input.id, idempotencyKey),
    })
    .step('issueInvoice', {
      dependsOn: ['chargeCard'],
      run: ({ input, deps, idempotencyKey }) =>
        shop.invoices.issue({ orderId: input.id, totalCents: deps.chargeCard.amountCents }, idempotencyKey),
      compensate: ({ output }) => shop.invoices.cancel(output.number),
    })
    .step('sendMail', {
      dependsOn: ['issueInvoice'],
      retry: { attempts: 3, initial: '400ms' },
      run: ({ input, deps, idempotencyKey }) =>
        shop.mail.send(
          {
            orderId: input.id,
            recipient: input.customer.email,
            subject: `Your order is on its way (invoice ${deps.issueInvoice.number})`,
          },
          idempotencyKey,
        ),
      compensate: async ({ input, idempotencyKey }) => {
        const apology = {
          orderId: input.id,
          recipient: input.customer.email,
          subject: 'Your order was cancelled',
        }
        await shop.mail.send(apology, idempotencyKey)
      },
    })
    .step('updateAnalytics', {
      dependsOn: ['issueInvoice'],
      run: ({ input, deps }) => shop.analytics.recordSale(input.id, deps.issueInvoice.totalCents),
      compensate: ({ input }) => shop.analytics.removeSale(input.id),
    })
}

export type FulfilOrder = ReturnType<typeof fulfilOrder>
