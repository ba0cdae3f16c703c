import type { Peer } from '@belay/bench/peer'
import { PgBoss } from 'pg-boss'

const QUEUE = 'jobs'
// The best of batches of 1,000 and 5,000 with 1, 2 and 4 fetchers.
const BATCH = 5_000
const FETCHERS = 2

/** Single jobs, inserted in bulk and fetched in batches: https://pgboss.io/api/workers, https://pgboss.io/api/jobs. */
export function createPeer(): Peer {
  let boss: PgBoss
  let lastStepRan: () => void

  return {
    stepsPerRun: 1,
    settings: `insert() in bulk, batchSize ${BATCH}, burstWhenBatchFull, localConcurrency ${FETCHERS}, pollingIntervalSeconds 0.5, notify`,
    countOpen: `select count(*) from pgboss.job where state <> 'completed'`,
    async prepare(setup) {
      lastStepRan = setup.lastStepRan
      boss = new PgBoss({ connectionString: setup.url, useListenNotify: true })
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
      await boss.work(QUEUE, options, async (jobs) => {
        for (const _ of jobs) lastStepRan()
      })
    },
    async startRun() {
      await boss.send(QUEUE, {})
    },
    async startRuns(count) {
      const jobs = Array.from({ length: count }, () => ({ data: {} }))
      await boss.insert(QUEUE, jobs, { returnId: false })
    },
    close: () => boss.stop({ graceful: false }),
  }
}
