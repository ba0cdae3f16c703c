import { define } from '@belay/workflow'
import { card, mail, play, stock } from 'playground'

const sale = (version: number) =>
  define('sale', { version })
    .step('takeStock', {
      run: ({ runId, idempotencyKey }) => stock.take({ order: runId, key: idempotencyKey }),
      compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
    })
    .step('chargeCard', {
      dependsOn: ['takeStock'],
      run: ({ runId, idempotencyKey }) => card.charge({ order: runId, key: idempotencyKey }),
      compensate: ({ runId, idempotencyKey }) => card.refund({ order: runId, key: idempotencyKey }),
    })

const older = sale(1)
const newer = sale(2).step('sendMail', {
  dependsOn: ['chargeCard'],
  run: ({ runId, idempotencyKey }) => mail.send({ order: runId, subject: 'Thank you', key: idempotencyKey }),
})

export default play({
  workflows: [older, newer],
  start: (engine, number) =>
    engine.run(number % 2 === 1 ? older : newer, undefined, { key: `sale:${number}` }),
})
