import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, define, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { withClient } from '../database.ts'
import { quantile } from '../report/figures.ts'
import { transactionsOf } from '../server-counters.ts'
import type { Recorder, Section } from './section.ts'

/** Long enough for two renewals: workers learn of each other when they renew, every ten seconds. */
const RENEWED_TWICE_MS = 21_000
const LATENCY_RUNS = 100

const workflow = define('crowd', { version: 1 })
  .step('a', { run: () => 1 })
  .step('b', { dependsOn: ['a'], run: () => 2 })
  .step('c', { dependsOn: ['b'], run: () => 3 })

/** The engines share one adapter, so that hundreds of engines do not need hundreds of connections. Each renews, looks and claims as usual. */
export const crowdSection: Section = {
  name: 'crowd',
  about:
    'many idle workers: statements per second of all together, and how soon a start from elsewhere is taken up',
  async measure(bench, record) {
    for (const workers of bench.quick ? [1, 5] : [1, 20, 200]) {
      await bench.server.freshDatabase(async (url) => {
        await withCrowd(url, workers, async (crowd) => {
          await delay(bench.quick ? 1_000 : RENEWED_TWICE_MS)
          const perSecond = await statementsPerSecond(url, bench.quick ? 2_000 : 30_000)
          record.add(`${workers} idle workers together`, { unit: 'statements/s', value: perSecond })
          const p50 = await startLatency(url, {
            crowd,
            workers,
            runs: bench.quick ? 10 : LATENCY_RUNS,
            record,
          })
          bench.progress(
            `${workers} idle workers: ${perSecond.toFixed(1)} statements/s, a start ${p50.toFixed(1)} ms`,
          )
        })
      })
    }
    record.note(
      'Crowd: engines with default settings in one process, over one adapter of 20 connections; statements are commits of the database. A start comes from another adapter, so that workers hear of it by a notification; until the run of three steps has completed.',
    )
  },
}

async function withCrowd(
  url: string,
  workers: number,
  work: (crowd: readonly Engine[]) => Promise<void>,
): Promise<void> {
  const adapter = postgres(url, { connectionsMax: 20, autoMigrate: true })
  await adapter.open()
  const crowd = Array.from({ length: workers }, () => createEngine({ adapter, workflows: [workflow] }))
  try {
    for (const engine of crowd) await engine.start()
    await work(crowd)
  } finally {
    await Promise.all(crowd.map((engine) => engine.stop({ timeout: 0 })))
    await adapter.close()
  }
}

async function statementsPerSecond(url: string, ms: number): Promise<number> {
  return withClient(url, async (client) => {
    const database = new URL(url).pathname.slice(1)
    const before = await transactionsOf(client, database)
    await delay(ms)
    return ((await transactionsOf(client, database)) - before) / (ms / 1_000)
  })
}

/** Resolves to the median. */
async function startLatency(
  url: string,
  given: {
    readonly crowd: readonly Engine[]
    readonly workers: number
    readonly runs: number
    readonly record: Recorder
  },
): Promise<number> {
  const { crowd, workers, runs, record } = given
  const trigger = createEngine({ adapter: postgres(url) })
  const ended = new Map<string, () => void>()
  for (const engine of crowd) engine.on('run.completed', ({ runId }) => ended.get(runId)?.())
  const latencies: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now()
    const { id } = await trigger.run(workflow)
    const isOver = async () => (await trigger.runs.get(id))?.status === 'completed'
    await new Promise<void>((resolve) => {
      ended.set(id, resolve)
      // The run may have ended before the call of `run()` returned.
      void isOver().then((over) => over && resolve())
    })
    latencies.push(performance.now() - startedAt)
    await delay(20)
  }
  await trigger.close()
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    record.add(`a start beside ${workers} idle workers, ${name}`, {
      unit: 'ms',
      value: quantile(latencies, share),
    })
  }
  return quantile(latencies, 0.5)
}
