import { randomUUID } from 'node:crypto'
import { createEngine } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

const RUNS = 300

describe.each(servers)('pauses under a busy worker on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  it('hold once resolved: a run that was paused while no step was running begins none', async () => {
    const edges = { a: [], b: [], c: ['a'], d: ['b', 'c'], e: ['d'] }
    const [definition] = await store.saveDefinitions([definitionOf('busy', edges)])
    const { id: definitionId, name: workflow } = definition!
    const runIds = Array.from({ length: RUNS }, () => randomUUID())
    await store.startRuns(runIds.map((runId) => ({ runId, definitionId, workflow, key: null, input: null })))
    const adapter = postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 4 })
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'busy', leaseMs: 600_000 })
    let working = true
    const work = async (seed: number) => {
      for (let round = seed; working; round += 1) {
        const claimed = await adapter.claim({ workerId, definitionIds: [definitionId], limit: 4 })
        let open = claimed === 'lost' ? [] : claimed.claims
        for (let turn = 0; open.length > 0; turn += 1) {
          const outcomes = open.map((one, index) =>
            (turn + index + round) % 3 === 0 ? { ...one, type: 'released' as const } : completed(one),
          )
          open = (await adapter.settle({ workerId, outcomes, handBackMax: 2 })).claims
        }
      }
    }
    const engine = createEngine({ adapter: store as Adapter })
    const begunAfter: string[] = []
    const pauseAndLook = async (runId: string) => {
      const paused = await engine.runs
        .handle(runId)
        .pause()
        .catch(() => false)
      const before = await store.readRun(runId)
      if (!paused || before!.run.status !== 'paused') return
      if (before!.steps.some(({ status }) => status === 'running')) return
      quiet.set(runId, fencesOf(before!))
    }
    const quiet = new Map<string, string>()

    const working3 = Promise.all([work(0), work(1), work(2)])
    for (let first = 0; first < RUNS; first += 4) {
      await Promise.all(runIds.slice(first, first + 4).map(pauseAndLook))
    }
    working = false
    await working3
    for (const [runId, fences] of quiet) {
      if (fencesOf((await store.readRun(runId))!) !== fences) begunAfter.push(runId)
    }

    expect(begunAfter).toEqual([])
    expect(quiet.size).toBeGreaterThan(0)
    await adapter.close()
  })
})

function fencesOf({ steps }: { readonly steps: readonly { readonly fence: number }[] }): string {
  return steps.map(({ fence }) => fence).join()
}
