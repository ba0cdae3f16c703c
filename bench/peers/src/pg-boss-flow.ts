import type { Peer } from '@belay/bench/peer'
import { type FlowJob, PgBoss } from 'pg-boss'

const QUEUE = 'steps'
// The best of batches of 1,000 and 5,000 with 1, 2 and 4 fetchers.
const BATCH = 5_000
const FETCHERS = 2

/**
 * Chains as flows: https://pgboss.io/api/jobs, "flow()". Batches and burst fetching as https://pgboss.io/api/workers describes them for
 * throughput. A pass over the dependencies runs at most once a second, the shortest flowIntervalSeconds there is.
 */
export function createPeer(): Peer {
  let boss: PgBoss
  let onStep: (step: number) => void

  return {
    stepsPerRun: 3,
    settings: `flow(), flowIntervalSeconds 1, batchSize ${BATCH}, burstWhenBatchFull, localConcurrency ${FETCHERS}, pollingIntervalSeconds 0.5, notify`,
    countOpen: `select count(*) from pgboss.job where state <> 'completed'`,
    async prepare(setup) {
      onStep = (step) => step === 3 && setup.lastStepRan()
      boss = new PgBoss({ connectionString: setup.url, flowIntervalSeconds: 1, useListenNotify: true })
      boss.on('error', () => {})
      await boss.start()
      await boss.createQueue(QUEUE, { notify: true })
    },
    async startWorker() {
      const options = {
        batchSize: BATCH,
        burstWhenBatchFull: true,
        localConcurrency: FETCHERS,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
      }
      await boss.work<{ step: number }>(QUEUE, options, async (jobs) => {
        for (const job of jobs) onStep(job.data.step)
      })
    },
    async startRun() {
      const chain: FlowJob[] = [
        { ref: 'a', name: QUEUE, data: { step: 1 } },
        { ref: 'b', name: QUEUE, data: { step: 2 }, dependsOn: ['a'] },
        { ref: 'c', name: QUEUE, data: { step: 3 }, dependsOn: ['b'] },
      ]
      await boss.flow(chain)
    },
    close: () => boss.stop({ graceful: false }),
  }
}
