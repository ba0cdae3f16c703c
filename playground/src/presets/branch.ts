import { define, unchecked } from '@belay/workflow'
import { card, mail, play, stock } from 'playground'

const dispatch = define('dispatch', { version: 1, input: unchecked<{ count: number }>() })
  .choose('how', { on: ({ input }) => (input.count > 2 ? 'truck' : 'post'), cases: ['truck', 'post'] })
  .step('takeStock', {
    run: ({ input: { count }, runId, idempotencyKey }) =>
      stock.take({ order: runId, count, key: idempotencyKey }),
  })
  .step('orderTruck', {
    when: { how: 'truck' },
    run: ({ runId, idempotencyKey }) =>
      mail.send({ order: runId, subject: 'To the carrier', key: idempotencyKey }),
  })
  .step('printLabel', { when: { how: 'post' }, run: () => 'label 7' })
  .step('chargeCard', {
    dependsOn: ['takeStock', 'orderTruck', 'printLabel'],
    onSkipped: 'run', // one of the two ways is always skipped
    run: ({ deps, runId, idempotencyKey }) =>
      card.charge({ order: runId, cents: deps.printLabel ? 500 : 9_000, key: idempotencyKey }),
  })

export default play({
  workflows: [dispatch],
  start: (engine, number) => engine.run(dispatch, { count: 1 + (number % 4) }, { key: `dispatch:${number}` }),
})
