import { createEngine, define, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type { Peer } from './peer.ts'

/** Belay itself, measured by the same code as the others. */
export function createPeer(): Peer {
  let lastStepRan: () => void
  let engine: Engine
  const chain = define('chain', { version: 1 })
    .step('a', { run: () => 1 })
    .step('b', { dependsOn: ['a'], run: () => 2 })
    .step('c', { dependsOn: ['b'], run: () => lastStepRan() })

  return {
    stepsPerRun: 3,
    settings: 'concurrency 1,000; at most 5 connections',
    countOpen: `select count(*) from belay.workflow_runs where status <> 'completed'`,
    async prepare(setup) {
      lastStepRan = setup.lastStepRan
      const adapter = postgres(setup.url, { autoMigrate: true })
      engine = createEngine({ adapter, workflows: [chain], concurrency: 1_000 })
      // Migrates the schema now: that must not count as starting runs.
      await engine.runs.list({ limit: 1 })
    },
    startWorker: () => engine.start(),
    async startRun() {
      await engine.run(chain)
    },
    async startRuns(count) {
      await engine.runMany(
        chain,
        Array.from({ length: count }, () => ({})),
      )
    },
    close: () => engine.close(),
  }
}
