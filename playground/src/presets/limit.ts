import { define, unchecked } from '@belay/workflow'
import { card, play, stock } from 'playground'

const checkout = define('checkout', {
  version: 1,
  input: unchecked<{ customer: string }>(),
  concurrency: { limit: 2, key: ({ input }) => input.customer },
})
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: ({ runId, idempotencyKey }) => card.charge({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
  })

export default play({
  workflows: [checkout],
  start: (engine, number) => {
    const customer = number % 4 === 0 ? 'ann' : 'bob'
    return engine.run(checkout, { customer }, { key: `${customer}:${number}` })
  },
})
