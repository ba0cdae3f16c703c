/** One call of a service that had its effect. */
export interface Entry {
  readonly id: number
  readonly service: 'card' | 'stock' | 'mail'
  readonly what: string
  readonly amount: number
  /** What the service was told: the run's id. */
  readonly order: string
  readonly worker: string
  /** How often it was called with the same key: all but the first changed nothing. */
  readonly calls: number
}

export const NEWEST_ENTRIES = `
select id, service, what, amount, "order", worker, calls from shop.ledger order by id desc limit 40`

export interface Balance {
  /** Orders with money and goods. */
  readonly sold: number
  /** Orders that are back to nothing. */
  readonly undone: number
  /** Orders of which only one is there. */
  readonly between: number
  /** Calls that came again with the same key. */
  readonly repeated: number
  /** Runs that have not ended. While there is one, an order may be in between. */
  readonly underWay: number
}

/** The orders are counted from the ledger alone, which knows nothing of runs. One statement, so that all of it is of one instant. */
export const BALANCE = `
with orders as (
  select coalesce(sum(amount) filter (where service = 'card'), 0) as card,
    coalesce(sum(amount) filter (where service = 'stock'), 0) as stock, sum(calls - 1) as repeated
  from shop.ledger group by "order"
)
select count(*) filter (where card > 0 and stock > 0)::int as sold,
  count(*) filter (where card = 0 and stock = 0)::int as undone,
  count(*) filter (where not (card > 0 and stock > 0 or card = 0 and stock = 0))::int as between,
  coalesce(sum(repeated), 0)::int as repeated,
  (select count(*)::int from belay.workflow_runs where finished_at is null) as "underWay"
from orders`

export interface Service {
  readonly name: string
  readonly open: boolean
}

export const SERVICES = `select name, open from shop.services order by name`

/** Whether it balances, as a sentence. */
export function balanceSentence({ sold, undone, between, underWay }: Balance): {
  readonly text: string
  readonly looks: 'good' | 'plain' | 'bad'
} {
  const orders = `${sold} sold, ${undone} undone`
  if (between === 0) return { text: `It balances: ${orders}.`, looks: 'good' }
  if (underWay > 0) return { text: `In between, and under way: ${between}; ${orders}.`, looks: 'plain' }
  const are = between === 1 ? 'order is' : 'orders are'
  return {
    text: `It does not balance: ${between} ${are} in between, and nothing is under way; ${orders}.`,
    looks: 'bad',
  }
}
