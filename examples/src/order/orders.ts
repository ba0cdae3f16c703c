import type { Order } from './shop/index.ts'

const customer = { name: 'Ada Lovelace', email: 'ada@example.com' }

/** Succeeds, although the card network's answer to the first charge is lost. */
export function goodOrder(id: string): Order {
  return {
    id,
    customer,
    card: 'visa-over-a-lossy-line',
    items: [
      { sku: 'rope-60m', quantity: 1 },
      { sku: 'carabiner', quantity: 8 },
    ],
  }
}

/** Can never be confirmed: no server takes mail for its customer. */
export function undeliverableOrder(id: string): Order {
  return {
    id,
    customer: { ...customer, email: 'ada@nowhere.invalid' },
    card: 'visa',
    items: [
      { sku: 'rope-60m', quantity: 2 },
      { sku: 'belay-device', quantity: 2 },
    ],
  }
}
