import type { Peer, PeerSetup } from '@belay/bench/peer'
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'

const QUEUE = 'chains'
// The best of 20, 100 and 300 with pools of 10, 20 and 40.
const CONCURRENCY = 300
const POOL = 20
const NAME = 'bench'
const quiet = { info() {}, debug() {}, warn() {}, error() {} }

/**
 * Runs wait in a queue and are drained by its worker, as https://docs.dbos.dev/typescript/tutorials/queue-tutorial does it; a single run on
 * an idle system is started directly, the quickest way there is: no queue, no poll.
 */
export function createPeer(): Peer {
  let setup: PeerSetup
  let client: DBOSClient
  let chain: () => Promise<number>
  let isWorking = false

  return {
    stepsPerRun: 3,
    settings: `queue with workerConcurrency ${CONCURRENCY}, minPollingIntervalMs 10, systemDatabasePoolSize ${POOL}; single runs started directly`,
    countOpen: `select count(*) from dbos.workflow_status where status <> 'SUCCESS'`,
    async prepare(given) {
      setup = given
      DBOS.setConfig({ name: NAME, ...databaseOf(setup) })
      chain = DBOS.registerWorkflow(
        async () => {
          await DBOS.runStep(async () => 1, { name: 'a' })
          await DBOS.runStep(async () => 2, { name: 'b' })
          await DBOS.runStep(async () => setup.lastStepRan(), { name: 'c' })
          return 3
        },
        { name: 'chain' },
      )
      // Launching makes the tables and starts to work: done once and ended again, so that runs can wait for the worker.
      await DBOS.launch()
      await DBOS.registerQueue(QUEUE, { workerConcurrency: CONCURRENCY, minPollingIntervalMs: 10 })
      await DBOS.shutdown()
      client = await DBOSClient.create({ applicationName: NAME, ...databaseOf(setup) })
    },
    async startWorker() {
      await DBOS.launch()
      isWorking = true
    },
    async startRun() {
      if (isWorking) await DBOS.startWorkflow(chain)()
      else await client.enqueue({ workflowName: 'chain', queueName: QUEUE })
    },
    async close() {
      await client.destroy()
      await DBOS.shutdown()
    },
  }
}

function databaseOf({ url }: PeerSetup) {
  return { systemDatabaseUrl: url, systemDatabasePoolSize: POOL, logger: quiet }
}
