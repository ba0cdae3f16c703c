import { define, PermanentError } from '@belay/workflow'
import { card, play, stock } from 'playground'

const boxes = Array.from({ length: 40 }, (_, index) => `box-${index + 1}`)

const parcels = define('parcels', { version: 1 })
  .map('takeBox', {
    over: () => boxes,
    itemKey: (box) => box,
    onFailure: 'collect', // the other boxes go on; without this line, all are put back
    run: ({ item, runId, idempotencyKey }) => {
      if (item === 'box-13') throw new PermanentError(`${item} is broken`)
      return stock.take({ order: runId, key: idempotencyKey })
    },
    compensate: ({ runId, idempotencyKey }) => stock.putBack({ order: runId, key: idempotencyKey }),
  })
  .step('chargeCard', {
    dependsOn: ['takeBox'],
    run: ({ runId, deps, idempotencyKey }) => {
      const taken = deps.takeBox.filter(({ status }) => status === 'completed').length
      return card.charge({ order: runId, cents: taken * 100, key: idempotencyKey })
    },
  })

export default play({
  workflows: [parcels],
  start: (engine, number) => engine.run(parcels, undefined, { key: `parcels:${number}` }),
})
