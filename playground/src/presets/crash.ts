import { define } from '@belay/workflow'
import { card, mail, play, stock, work } from 'playground'

const order = define('order', { version: 1 })
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: async ({ runId, idempotencyKey }) => {
      await work(2_000)
      return card.charge({ order: runId, key: idempotencyKey })
    },
    compensate: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
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
