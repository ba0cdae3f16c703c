import type { NewRun, StartLimit } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases, withSecond } from '../case.ts'
import { completed, enters, entry, type Graph, type Scenario } from '../scenario/index.ts'
import { LIMIT } from './limits.ts'

export const refusedStartCases: Cases = {
  'a start without a slot stores nothing and names the limit': async (given) => {
    const { graph } = await held(given)
    const before = await given.snapshot()
    const run = newRun(given, graph, ONE)

    const started = await given.adapter.startRuns([run])

    const { runId, definitionId, input } = run
    expect(started).toEqual([{ runId, definitionId, input, created: false, full: ONE[0] }])
    expect(await given.adapter.readRun(runId)).toBeNull()
    expect(await given.snapshot()).toEqual(before)
  },

  'the run has its slot when it is started, and its steps enter with it': async (given) => {
    const { graph, first } = await held(given)
    expect(await inUse(given)).toMatchObject({ inUse: 1, waiting: 0 })
    const worker = await given.worker()
    const [claim] = await worker.take()

    const { results } = await worker.settle([enters(claim!, OF_RUN)])

    expect(results).toEqual(['settled'])
    await worker.settleAndFree(completed(claim!))
    expect(await given.adapter.readRun(first.runId)).toMatchObject({ run: { status: 'completed' } })
    const [next] = await given.adapter.startRuns([newRun(given, graph, ONE)])
    expect(next).toMatchObject({ created: true })
  },

  'each key has slots of its own': async (given) => {
    const { graph } = await held(given)
    const other = [{ limit: LIMIT, key: 'other', concurrency: 1 }]

    const started = await given.adapter.startRuns([
      newRun(given, graph, other),
      newRun(given, graph, other),
      newRun(given, graph, ONE),
      newRun(given, graph),
    ])

    expect(started.map(({ created, full }) => [created, full?.key])).toEqual([
      [true, undefined],
      [false, 'other'],
      [false, ''],
      [true, undefined],
    ])
  },

  'a run takes the slots of all its limits, or none': async (given) => {
    const { graph } = await held(given)
    const free = { limit: 'free', key: '', concurrency: 1 }

    const [refused] = await given.adapter.startRuns([newRun(given, graph, [free, ...ONE])])

    expect(refused).toMatchObject({ created: false, full: ONE[0] })
    expect(await given.adapter.startRuns([newRun(given, graph, [free])])).toMatchObject([{ created: true }])
  },

  'a number that the store knows goes before that of the start': async (given) => {
    const { graph } = await held(given)
    await given.adapter.setLimit({ name: LIMIT, concurrency: 2 })
    const started = await given.adapter.startRuns([newRun(given, graph, ONE), newRun(given, graph, ONE)])
    expect(started).toMatchObject([{ created: true }, { full: { limit: LIMIT, key: '', concurrency: 2 } }])

    await given.adapter.setLimit({ name: LIMIT, concurrency: 0 })

    const [closed] = await given.adapter.startRuns([newRun(given, graph, ONE)])
    expect(closed).toMatchObject({ created: false, full: { concurrency: 0 } })
  },

  'a run that exists already is returned, whether or not there is a slot': async (given) => {
    const graph = await given.graph('limited', { a: [] })
    const run = newRun(given, graph, ONE, 'k')
    await given.adapter.startRuns([run])

    const again = await given.adapter.startRuns([
      run,
      newRun(given, graph, ONE, 'k'),
      newRun(given, graph, ONE),
    ])

    expect(again).toMatchObject([
      { runId: run.runId, created: false },
      { runId: run.runId, created: false },
      { created: false, full: ONE[0] },
    ])
    expect(again.map(({ full }) => full === undefined)).toEqual([true, true, false])
  },

  'a key that stands twice in one call starts one run, which takes one slot': async (given) => {
    const graph = await given.graph('limited', { a: [] })
    const two = [{ ...ONE[0]!, concurrency: 2 }]
    const [first, second] = ['k', 'k'].map((key) => newRun(given, graph, two, key))

    const started = await given.adapter.startRuns([first!, second!, newRun(given, graph, two)])

    expect(started).toMatchObject([
      { runId: first!.runId, created: true },
      { runId: first!.runId, created: false },
      { created: true },
    ])
    expect(started[1]).not.toHaveProperty('full')
  },

  'a slot that a run has left behind, because its process died, refuses nobody': async (given) => {
    const { graph } = await held(given)
    const worker = await given.worker()
    const [claim] = await worker.take()
    await worker.settle([enters(claim!, OF_RUN)])
    await worker.settle([completed(claim!)])

    const [next] = await given.adapter.startRuns([newRun(given, graph, ONE)])

    expect(next).toMatchObject({ created: true })
  },

  'a lease takes nothing of a call with limits': async (given) => {
    const graph = await given.graph('limited', { a: [] })
    const worker = await given.worker()
    const lease = { workerId: worker.id, handBackMax: 5 }

    const started = await given.adapter.startRuns([newRun(given, graph, ONE), newRun(given, graph)], {
      lease,
    })

    expect(started.map(({ claims = [] }) => claims)).toEqual([[], []])
    expect(await worker.take()).toHaveLength(2)
  },

  'a start in a transaction has its slot when that commits, and none when it is rolled back': async (
    given,
  ) => {
    const graph = await given.graph('limited', { a: [] })
    await given.harness
      .transaction(async (tx) => {
        await given.adapter.startRuns([newRun(given, graph, ONE)], { tx })
        throw new Error('rolled back')
      })
      .catch(() => {})

    const started = await given.harness.transaction(async (tx) => [
      ...(await given.adapter.startRuns([newRun(given, graph, ONE)], { tx })),
      ...(await given.adapter.startRuns([newRun(given, graph, ONE)], { tx })),
    ])

    expect(started).toMatchObject([{ created: true }, { created: false, full: ONE[0] }])
    const [later] = await given.adapter.startRuns([newRun(given, graph, ONE)])
    expect(later).toMatchObject({ created: false, full: ONE[0] })
  },

  'a start waits for an open transaction that has started a run with the key': besideTransaction(
    async (given) => {
      const graph = await given.graph('limited', { a: [] })
      let outside: ReturnType<typeof given.adapter.startRuns> | undefined

      await given.harness.transaction(async (tx) => {
        await given.adapter.startRuns([newRun(given, graph, ONE)], { tx })
        outside = given.adapter.startRuns([newRun(given, graph, ONE)])
      })

      expect(await outside).toMatchObject([{ created: false, full: ONE[0] }])
    },
  ),

  'of two connections that start for the last slot, one is refused': withSecond(async (given, second) => {
    const graph = await given.graph('limited', { a: [] })
    for (let round = 0; round < 10; round += 1) {
      const last = [{ limit: LIMIT, key: `k${round}`, concurrency: 1 }]

      const started = await Promise.all(
        [given.adapter, second].map((adapter) => adapter.startRuns([newRun(given, graph, last)])),
      )

      expect(started.flat().filter(({ created }) => created)).toHaveLength(1)
      expect(started.flat().filter(({ full }) => full !== undefined)).toHaveLength(1)
    }
  }),
}

const ONE: readonly StartLimit[] = [{ limit: LIMIT, key: '', concurrency: 1 }]
const OF_RUN = entry(LIMIT, '', 'run')

function newRun(
  given: Scenario,
  graph: Graph,
  limits?: readonly StartLimit[],
  key: string | null = null,
): NewRun {
  return {
    runId: given.ids.runId(),
    definitionId: graph.id,
    workflow: graph.name,
    key,
    input: '1',
    ...(limits && { limits }),
  }
}

/** A run that has the only slot. */
async function held(given: Scenario) {
  const graph = await given.graph('limited', { a: [] })
  const first = newRun(given, graph, ONE)
  await given.adapter.startRuns([first])
  return { graph, first }
}

async function inUse(given: Scenario) {
  await given.adapter.declareLimits([{ name: LIMIT, concurrency: 1 }])
  return (await given.adapter.readLimits([LIMIT]))[0]
}
