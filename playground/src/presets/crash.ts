import { define } from '@belay/workflow'
import { card, mail, play, stock, work } from 'playground'

const order = define('order', { version: 1 })
  .step('takeStock', {
    run: async ({ runId, idempotencyKey }) => {
      await work(1_200)
      return stock.take({ order: runId, count: 1, key: idempotencyKey })
    },
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, count: 1, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: async ({ runId, idempotencyKey }) => {
      await work(1_200)
      return card.charge({ order: runId, cents: 4_200, key: idempotencyKey })
    },
    compensate: ({ runId, idempotencyKey }) =>
      card.refund({ order: runId, cents: 4_200, key: idempotencyKey }),
  })
  .step('sendMail', {
    dependsOn: ['chargeCard'],
    run: ({ runId, idempotencyKey }) =>
      mail.send({ order: runId, subject: 'Thank you', key: idempotencyKey }),
  })

export default play({
  workflows: [order],
  start: (engine, number) => engine.run(order, undefined, { key: `order:${number}` }),
})
