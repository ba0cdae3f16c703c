import { define } from '@belay/workflow'
import { card, play, stock, work } from 'playground'

const delivery = define('delivery', { version: 1 })
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .repeat('askCourier', {
    dependsOn: ['takeStock'],
    first: () => ({ km: 12 }),
    run: async ({ last }) => {
      await work(500)
      return { km: last.km - 2 }
    },
    until: ({ output }) => output.km <= 0,
    delay: '1s', // no worker is held meanwhile
    max: 20,
  })
  .step('chargeCard', {
    dependsOn: ['askCourier'],
    run: ({ runId, idempotencyKey }) => card.charge({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
  })

export default play({
  workflows: [delivery],
  start: (engine, number) => engine.run(delivery, undefined, { key: `delivery:${number}` }),
})
