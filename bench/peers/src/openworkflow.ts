import type { Peer } from '@belay/bench/peer'
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'

// https://openworkflow.dev/docs/production: "Start with concurrency: 10 and adjust based on workload". 100 drains four times as fast as 10
// and as fast as 200.
const CONCURRENCY = 100

export function createPeer(): Peer {
  let backend: BackendPostgres
  let worker: ReturnType<OpenWorkflow['newWorker']>
  let startChain: () => Promise<unknown>

  return {
    stepsPerRun: 3,
    settings: `concurrency ${CONCURRENCY}, 10 connections; its poll (100 ms to 1 s) cannot be set`,
    countOpen: `select count(*) from openworkflow.workflow_runs where status <> 'completed'`,
    async prepare(setup) {
      backend = await BackendPostgres.connect(setup.url)
      const client = new OpenWorkflow({ backend })
      const chain = client.defineWorkflow({ name: 'chain' }, async ({ step }) => {
        await step.run({ name: 'a' }, () => 1)
        await step.run({ name: 'b' }, () => 2)
        await step.run({ name: 'c' }, () => setup.lastStepRan())
        return 3
      })
      startChain = () => chain.run()
      worker = client.newWorker({ concurrency: CONCURRENCY })
    },
    startWorker: () => worker.start(),
    async startRun() {
      await startChain()
    },
    async close() {
      await worker.stop()
      await backend.stop()
    },
  }
}
