import { define, PermanentError, unchecked } from '@belay/workflow'
import { card, play, stock, work } from 'playground'

const trip = define('trip', { version: 1, input: unchecked<{ number: number }>() })
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeStock'],
    run: ({ runId, idempotencyKey }) => card.charge({ order: runId, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
  })
  .step('bookCourier', {
    dependsOn: ['chargeCard'],
    run: async ({ input }) => {
      await work(700)
      if (input.number % 2 === 1) throw new PermanentError('no courier drives today')
      return 'courier 4'
    },
  })

export default play({
  workflows: [trip],
  start: (engine, number) => engine.run(trip, { number }, { key: `trip:${number}` }),
})
