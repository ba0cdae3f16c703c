import { define, PermanentError } from '@belay/workflow'
import { card, close, play, stock } from 'playground'

const refund = define('refund', { version: 1 })
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: ({ runId, idempotencyKey }) => card.charge({ order: runId, key: idempotencyKey }),
    compensate: {
      retry: { attempts: 2 },
      run: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
    },
  })
  .step('bookCourier', {
    dependsOn: ['chargeCard'],
    run: async () => {
      await close('card') // as luck would have it, just before the refund
      throw new PermanentError('no courier drives today')
    },
  })

export default play({
  workflows: [refund],
  start: (engine, number) => engine.run(refund, undefined, { key: `refund:${number}` }),
})
