import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { schedulesOf } from '../load/flow.ts'
import { Hands } from '../load/hands.ts'
import { makeWorkflows, releaseOf } from '../load/workflows.ts'
import { pause } from '../pause.ts'
import { World } from '../world/world.ts'
import { openChannel } from './channel.ts'
import { exhaust } from './exhaust.ts'
import {
  CONNECTIONS_MAX,
  POOL_MAX,
  QUERY_TIMEOUT_MS,
  TRANSACTIONS_MAX,
  type WorkerSetup,
} from './protocol.ts'

const PULSE_MS = 200

// A worker process: an engine with the load's workflows, and a channel to the supervisor.
const { setup, say } = openChannel<WorkerSetup>((command) => {
  if (command.type === 'exhaust' && pool !== undefined) void exhaust(pool, POOL_MAX, command.ms)
  if (command.type === 'leave') void leave()
})

const options = { transactionsMax: TRANSACTIONS_MAX, transactionIdleTimeoutMs: 2_000 }
const pool = setup.pool === 'application' ? applicationPool() : undefined
const adapter =
  pool === undefined
    ? postgres(setup.url, { ...options, connectionsMax: CONNECTIONS_MAX, queryTimeoutMs: QUERY_TIMEOUT_MS })
    : postgres(pool, { ...options, queryTimeoutMs: QUERY_TIMEOUT_MS })
const hands = new Hands(new World(setup.worldUrl, setup.name))
const workflows = makeWorkflows(hands)
const engine = createEngine({
  adapter,
  workflows: releaseOf(workflows, setup.version),
  schedules: schedulesOf(workflows),
  name: setup.name,
  lease: setup.leaseMs,
  tick: setup.tickMs,
  concurrency: 20,
})

const counts = { settled: 0, discarded: 0, leasesLost: 0 }
for (const event of ['step.completed', 'step.compensated', 'step.retrying', 'step.waiting'] as const)
  engine.on(event, () => {
    counts.settled += 1
  })
engine.on('step.discarded', () => {
  counts.discarded += 1
})
engine.on('lease.lost', () => {
  counts.leasesLost += 1
})
engine.on('error', ({ during, error }) => say({ type: 'error', during, message: messageOf(error) }))
setInterval(() => say({ type: 'pulse', ...counts, active: [...hands.active] }), PULSE_MS)

await start()
say({ type: 'ready' })

/** Repeats the start, as an orchestrator would: the database may be away just now. */
async function start(): Promise<void> {
  for (;;) {
    try {
      return await engine.start()
    } catch (error) {
      if (!isOutage(error)) throw error
      await pause(300)
    }
  }
}

async function leave(): Promise<void> {
  await engine.close({ timeout: '2s' })
  process.exit(0)
}

/** A Pool as applications make one, with a listener for the errors of idle connections and no other options. */
function applicationPool(): pg.Pool {
  const made = new pg.Pool({ connectionString: setup.url, max: POOL_MAX })
  made.on('error', () => {})
  return made
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    /^store_(unavailable|misconfigured|contended)$/.test(String(error.code))
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
