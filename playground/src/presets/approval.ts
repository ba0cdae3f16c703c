import { define } from '@belay/workflow'
import { card, play, stock } from 'playground'

const purchase = define('purchase', { version: 1 })
  .step('takeStock', {
    run: ({ runId, idempotencyKey }) => stock.take({ order: runId, count: 9, key: idempotencyKey }),
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, count: 9, key: idempotencyKey }),
  })
  // Waits for days if need be. Meanwhile the run is rows in the database, and no worker holds it.
  .approval('maySpend', { dependsOn: ['takeStock'], timeout: '7d' })
  .step('chargeCard', {
    dependsOn: ['maySpend'],
    run: ({ runId, deps, idempotencyKey }) => {
      console.log(`approved by ${deps.maySpend.by}`)
      return card.charge({ order: runId, cents: 90_000, key: idempotencyKey })
    },
    compensate: ({ runId, idempotencyKey }) =>
      card.refund({ order: runId, cents: 90_000, key: idempotencyKey }),
  })

export default play({
  workflows: [purchase],
  start: (engine, number) => engine.run(purchase, undefined, { key: `purchase:${number}` }),
})
