/** One call of a service that had its effect. */
export interface Entry {
  readonly service: 'card' | 'stock' | 'mail'
  readonly what: string
  readonly amount: number
  readonly order: string
  readonly worker: string
  /** How often it was called with the same key: all but the first changed nothing. */
  readonly calls: number
}

export const LEDGER = `select service, what, amount, "order", worker, calls from shop.ledger order by id`

export interface Balance {
  /** Orders with money and goods. */
  readonly sold: number
  /** Orders that are back to nothing. */
  readonly undone: number
  /** Orders of which only one is there: under way, or wrong if nothing is under way. */
  readonly between: number
  /** Calls that came again with the same key. */
  readonly repeated: number
}

/** Of the ledger alone: it knows nothing of runs. */
export function balanceOf(ledger: readonly Entry[]): Balance {
  const orders = new Map<string, { card: number; stock: number }>()
  let repeated = 0
  for (const { order, service, amount, calls } of ledger) {
    repeated += calls - 1
    const sums = orders.get(order) ?? { card: 0, stock: 0 }
    orders.set(order, sums)
    if (service !== 'mail') sums[service] += amount
  }
  const all = [...orders.values()]
  const sold = all.filter(({ card, stock }) => card > 0 && stock > 0).length
  const undone = all.filter(({ card, stock }) => card === 0 && stock === 0).length
  return { sold, undone, between: all.length - sold - undone, repeated }
}
