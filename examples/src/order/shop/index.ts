import type { Database } from '../../database.ts'
import * as analytics from './analytics.ts'
import { checkFraud } from './fraud.ts'
import * as invoices from './invoices.ts'
import * as mails from './mails.ts'
import type { Order } from './order.ts'
import * as payments from './payments.ts'
import * as stock from './stock.ts'

export { type Order, orderSchema } from './order.ts'
export { CATALOGUE, createShopTables, restock } from './tables.ts'

export type Shop = ReturnType<typeof openShop>

/** The shop's services. None of them knows Belay. Each may be called twice with one id, and acts once. */
export function openShop(database: Database, cardNetwork: payments.CardNetwork = { silentMs: 0 }) {
  return {
    stock: {
      reserve: (order: Order, reservationId: string) => stock.reserve(database, order, reservationId),
      release: (reservationId: string) => stock.release(database, reservationId),
    },
    fraud: { check: (order: Order) => checkFraud(database, order) },
    payments: {
      charge: (charge: payments.Charge, chargeId: string) =>
        payments.charge(database, charge, chargeId, cardNetwork),
      refund: (orderId: string, refundId: string) => payments.refund(database, orderId, refundId),
    },
    invoices: {
      issue: (invoice: { orderId: string; totalCents: number }, key: string) =>
        invoices.issue(database, invoice, key),
      cancel: (number: number) => invoices.cancel(database, number),
    },
    mail: { send: (mail: mails.Mail, mailId: string) => mails.send(database, mail, mailId) },
    analytics: {
      recordSale: (orderId: string, cents: number) => analytics.recordSale(database, orderId, cents),
      removeSale: (orderId: string) => analytics.removeSale(database, orderId),
    },
  }
}
