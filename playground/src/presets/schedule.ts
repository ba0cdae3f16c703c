import { define } from '@belay/workflow'
import { card, play, stock } from 'playground'

const supply = define('supply', { version: 1 })
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
  workflows: [supply],
  // Any worker fires it, and each time has one run, also while the one before still waits for its lease to end.
  schedules: [{ name: 'each five seconds', every: '5s', overlap: 'allow', workflow: supply }],
  start: (engine, number) => engine.run(supply, undefined, { key: `by hand:${number}` }),
})
