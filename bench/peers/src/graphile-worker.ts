import type { Peer } from '@belay/bench/peer'
import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from 'graphile-worker'

const quiet = new Logger(() => () => {})

/** Single jobs, with the settings of https://worker.graphile.org/docs/performance, "Quick stats". */
export function createPeer(): Peer {
  const worker = {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger: quiet,
  }
  let utils: WorkerUtils
  let runner: Runner | undefined
  let url: string
  let lastStepRan: () => void

  return {
    stepsPerRun: 1,
    settings:
      'addJobs() in bulk, concurrentJobs 24, maxPoolSize 25, localQueue.size 500, completeJobBatchDelay 0',
    // Done is gone here.
    countOpen: 'select count(*) from graphile_worker._private_jobs',
    async prepare(setup) {
      url = setup.url
      lastStepRan = setup.lastStepRan
      utils = await makeWorkerUtils({ connectionString: url, logger: quiet })
      await utils.migrate()
    },
    async startWorker() {
      runner = await run({
        preset: { worker: { ...worker, connectionString: url } },
        noHandleSignals: true,
        taskList: { job: () => lastStepRan() },
      })
    },
    async startRun() {
      await utils.addJob('job', {})
    },
    async startRuns(count) {
      await utils.addJobs(Array.from({ length: count }, () => ({ identifier: 'job', payload: {} })))
    },
    async close() {
      await runner?.stop()
      await utils.release()
    },
  }
}
