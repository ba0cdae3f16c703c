import { setTimeout as delay } from 'node:timers/promises'
import { dashboard } from '@belay/dashboard'
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type { Bench } from '../bench.ts'
import { drain } from '../drain.ts'
import { runsOf, WORKLOADS } from '../workloads.ts'
import type { Recorder } from './section.ts'

const ROUNDS = 5
const VIEWERS = 5
/** As the page does. */
const EVERY_MS = 2_000

/** A drain with nobody looking and one with five viewers of the newest runs, by turns. The dashboard is in a process of its own: this one. */
export async function measureViewers(bench: Bench, record: Recorder): Promise<void> {
  for (let round = 1; round <= (bench.quick ? 1 : ROUNDS); round += 1) {
    const alone = await drained(bench, 0)
    const seen = await drained(bench, VIEWERS)
    record.add('a drain with nobody looking', { unit: 'steps/s', value: alone })
    record.add(`a drain with ${VIEWERS} viewers of the dashboard`, { unit: 'steps/s', value: seen })
    record.add(`a drain with ${VIEWERS} viewers of the dashboard`, { unit: '× nobody', value: seen / alone })
    bench.progress(`surfaces: viewers, round ${round}: ${(seen / alone).toFixed(3)}`)
  }
}

async function drained(bench: Bench, viewers: number): Promise<number> {
  const runs = runsOf('chain', bench) * (bench.quick ? 1 : 3)
  return bench.server.freshDatabase(async (url) => {
    const { stepsPerSecond } = await drain(
      {
        ...{ store: { kind: 'postgres', url }, workload: 'chain', runs },
        warmUpRuns: bench.quick ? 0 : Math.ceil(WORKLOADS.chain.runs / 5),
      },
      { during: (over) => look(url, viewers, over) },
    )
    return stepsPerSecond
  })
}

async function look(url: string, viewers: number, over: AbortSignal): Promise<void> {
  if (viewers === 0) return
  const engine = createEngine({ adapter: postgres(url, { connectionsMax: 5, listen: false }) })
  const handler = dashboard({ engine, authorize: () => ({ by: 'bench', can: 'all' }) })
  try {
    await Promise.all(
      Array.from({ length: viewers }, async (_, n) => {
        // They did not open their pages at the same moment.
        await delay((n * EVERY_MS) / viewers)
        while (!over.aborted) {
          const paths = ['overview', 'runs', 'runs/counts']
          await Promise.all(paths.map((path) => answered(handler, path)))
          await delay(EVERY_MS)
        }
      }),
    )
  } finally {
    await engine.close()
  }
}

async function answered(handler: (request: Request) => Promise<Response>, path: string): Promise<void> {
  const response = await handler(new Request(`http://127.0.0.1/api/${path}`))
  if (!response.ok) throw new Error(`GET ${path} answered ${response.status}.`)
  await response.text()
}
