import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { makeWorkflows } from './load.ts'

// A worker process. It ends with the process that made it.

export interface WorkerSetup {
  readonly url: string
  readonly name: string
  readonly leaseMs: number
}

const setup = JSON.parse(process.env['SOAK_WORKER']!) as WorkerSetup
process.on('disconnect', () => process.exit(1))

const pool = new pg.Pool({
  connectionString: setup.url,
  max: 10,
  application_name: `ledger of ${setup.name}`,
})
pool.on('error', () => {})
const engine = createEngine({
  adapter: postgres(setup.url, { connectionsMax: 6 }),
  workflows: Object.values(makeWorkflows({ pool, worker: setup.name })),
  name: setup.name,
  lease: setup.leaseMs,
  concurrency: 40,
})
engine.on('error', ({ during, error }) => console.error(`${setup.name}: ${during}: ${String(error)}`))
await engine.start()
process.send!('ready')
