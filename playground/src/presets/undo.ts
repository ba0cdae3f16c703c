import { define, unchecked } from '@belay/workflow'
import { card, play, stock, work } from 'playground'

interface Order {
  readonly number: number
}

const order = define('order', { version: 1, input: unchecked<Order>() })
  .step('takeStock', {
    run: async ({ runId, idempotencyKey }) => {
      await work(700)
      return stock.take({ order: runId, count: 1, key: idempotencyKey })
    },
    compensate: async ({ runId, idempotencyKey }) => {
      await work(700)
      await stock.putBack({ order: runId, count: 1, key: idempotencyKey })
    },
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: async ({ runId, idempotencyKey }) => {
      await work(700)
      return card.charge({ order: runId, cents: 4_200, key: idempotencyKey })
    },
    compensate: async ({ runId, idempotencyKey }) => {
      await work(700)
      await card.refund({ order: runId, cents: 4_200, key: idempotencyKey })
    },
  })
  .step('bookCourier', {
    dependsOn: ['chargeCard'],
    retry: false,
    run: async ({ input }) => {
      await work(700)
      if (input.number % 2 === 1) throw new Error('no courier drives today')
      return 'courier 4'
    },
  })

export default play({
  workflows: [order],
  start: (engine, number) => engine.run(order, { number }, { key: `order:${number}` }),
})
