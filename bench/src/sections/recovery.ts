import { randomUUID } from 'node:crypto'
import type { SavedDefinition } from '@belay/workflow/adapter'
import { type PostgresAdapter, postgres } from '@belay/workflow-postgres'
import type { Bench } from '../bench.ts'
import { execute } from '../database.ts'
import { eachRound, type Recorder, type Section } from './section.ts'

const HELD_STEPS = 50
const DEAD_WORKERS = 5
const STEPS_OF_DEAD = 100
const LEASE_MS = 600_000

export const recoverySection: Section = {
  name: 'recovery',
  about:
    'beside 1,000,000 waiting runs (20,000 with --quick, or --runs): finding a worker’s steps after a lost answer, and sweeping dead workers',
  async measure(bench, record) {
    await bench.reference()
    await bench.server.freshDatabase(async (url) => {
      const store = postgres(url, { autoMigrate: true, listen: false })
      await store.open()
      try {
        const [sleeper, chain] = await store.saveDefinitions([shape('sleeper', 'sleep'), shape('chain')])
        bench.progress(`making ${bench.waitingRuns.toLocaleString('en-US')} runs wait`)
        await makeWaiting(url, sleeper!, bench.waitingRuns)
        await eachRound(bench, async (round) => {
          await measureHeld(store, chain!, { bench, record, round })
          for (const steps of [0, STEPS_OF_DEAD])
            await measureSweep(store, chain!, steps, { bench, record, round })
        })
      } finally {
        await store.close()
      }
    })
  },
}

interface Measuring {
  readonly bench: Bench
  readonly record: Recorder
  readonly round: number
}

function shape(name: string, kind?: 'sleep') {
  const step = {
    name: 'a',
    dependsOn: [],
    compensate: 'never' as const,
    ...(kind === undefined ? {} : { kind }),
  }
  return { name, version: 1, checksum: name, shape: { steps: [step] } }
}

async function makeWaiting(url: string, { id }: SavedDefinition, runs: number): Promise<void> {
  await execute(
    url,
    `
insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow)
  select lpad(to_hex(n), 32, '0')::uuid, ${id}, 1, now(), 'running', 'sleeper' from generate_series(1, ${runs}) n;
insert into belay.workflow_steps (run_id, step, open_dependencies, fence, status, started_at, finished_at, waiting_since, available_at)
  select lpad(to_hex(n), 32, '0')::uuid, 0, 0, 1, 'waiting', now(), now(), now(), now() + interval '1 year'
  from generate_series(1, ${runs}) n;
insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id)
  select now() + interval '1 year', ${id}, 0, 1, lpad(to_hex(n), 32, '0')::uuid from generate_series(1, ${runs}) n;`,
  )
  await execute(url, 'vacuum analyze')
}

async function measureHeld(
  store: PostgresAdapter,
  chain: SavedDefinition,
  { bench, record, round }: Measuring,
) {
  const workerId = await workerWith(store, chain, { steps: HELD_STEPS, leaseMs: LEASE_MS })
  const [first, next] = [
    await timed(() => store.held({ workerId })),
    await timed(() => store.held({ workerId })),
  ]
  if (first.result.length !== HELD_STEPS) throw new Error(`It held ${first.result.length} steps.`)
  const where = `${HELD_STEPS} steps beside ${bench.waitingRuns.toLocaleString('en-US')} waiting runs`
  record.add(`what a worker holds: ${where}`, { unit: 'ms', value: first.ms })
  record.add(`asked again: ${where}`, { unit: 'ms', value: next.ms })
  bench.progress(`round ${round}: held ${first.ms.toFixed(1)} ms, then ${next.ms.toFixed(1)} ms`)
  const outcomes = first.result.map((claim) => ({ ...claim, type: 'completed' as const, output: null }))
  await store.settle({ workerId, outcomes, handBackMax: 0 })
  await store.deregisterWorker({ workerId })
}

async function measureSweep(
  store: PostgresAdapter,
  chain: SavedDefinition,
  steps: number,
  { bench, record, round }: Measuring,
) {
  for (let worker = 0; worker < DEAD_WORKERS; worker += 1)
    await workerWith(store, chain, { steps, leaseMs: 0 })
  let recovered = 0
  const { ms } = await timed(async () => {
    for (let more = true; more; ) {
      const swept = await store.sweep({ limit: 1_000 })
      recovered += swept.recovered.length
      more = swept.more
    }
  })
  if (recovered !== DEAD_WORKERS * steps) throw new Error(`${recovered} steps were recovered.`)
  const where = `beside ${bench.waitingRuns.toLocaleString('en-US')} waiting runs`
  record.add(`sweeping ${DEAD_WORKERS} dead workers with ${steps} steps each ${where}`, {
    unit: 'ms',
    value: ms,
  })
  bench.progress(
    `round ${round}: ${DEAD_WORKERS} dead workers with ${steps} steps each swept in ${ms.toFixed(1)} ms`,
  )
  // Completes the recovered steps, so that the next round begins in the same state.
  const heir = await workerWith(store, chain, { steps: 0, leaseMs: LEASE_MS })
  const claimed = await store.claim({ workerId: heir, definitionIds: [chain.id], limit: 10_000 })
  if (claimed === 'lost') throw new Error('The worker was lost.')
  const outcomes = claimed.claims.map((claim) => ({ ...claim, type: 'completed' as const, output: null }))
  await store.settle({ workerId: heir, outcomes, handBackMax: 0 })
  await store.deregisterWorker({ workerId: heir })
}

async function workerWith(
  store: PostgresAdapter,
  { id: definitionId, name: workflow }: SavedDefinition,
  { steps, leaseMs }: { steps: number; leaseMs: number },
): Promise<string> {
  const workerId = randomUUID()
  await store.registerWorker({ workerId, name: 'recovery', leaseMs })
  if (steps === 0) return workerId
  const runs = Array.from({ length: steps }, () => ({
    runId: randomUUID(),
    definitionId,
    workflow,
    key: null,
    input: null,
  }))
  await store.startRuns(runs)
  const claimed = await store.claim({ workerId, definitionIds: [definitionId], limit: steps })
  if (claimed === 'lost' || claimed.claims.length !== steps) throw new Error('Not all steps were claimed.')
  return workerId
}

async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly ms: number }> {
  const before = performance.now()
  const result = await work()
  return { result, ms: performance.now() - before }
}
