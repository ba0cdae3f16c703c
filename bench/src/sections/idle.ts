import { setTimeout as delay } from 'node:timers/promises'
import { withWorker } from '../worker/with-worker.ts'
import { eachRound, type Section } from './section.ts'

const SETTLE_MS = 1_000

export const idleSection: Section = {
  name: 'idle',
  about: 'statements per second of a worker that has nothing to do',
  async measure(bench, record) {
    const ms = bench.quick ? 3_000 : 20_000
    await eachRound(bench, async (round) => {
      await bench.reference()
      await bench.server.freshDatabase((url) =>
        withWorker({ store: { kind: 'postgres', url }, workload: 'chain', warmUpRuns: 0 }, async (worker) => {
          await worker.tell('work', null)
          await delay(SETTLE_MS)
          const before = await worker.tell('usage', null)
          await delay(ms)
          const after = await worker.tell('usage', null)
          const perSecond = (after.statements - before.statements) / (ms / 1_000)
          record.add('an idle worker', { unit: 'statements/s', value: perSecond })
          const cpuShare = (after.cpuMs - before.cpuMs) / ms
          record.add('an idle worker: Node CPU, share of one core', { unit: '%', value: cpuShare * 100 })
          bench.progress(`round ${round}: idle: ${perSecond.toFixed(1)} statements/s`)
        }),
      )
    })
  },
}
