import type { NewRun } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, type Graph, PAIR, type Scenario } from '../scenario/index.ts'

export const startLeasedCases: Cases = {
  'the first steps of new runs are leased to the asking worker in the same call': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const run = newRun(given, graph)

    const [started] = await given.adapter.startRuns([run], { lease: { workerId: worker.id, handBackMax: 5 } })

    expect(started).toEqual({
      runId: run.runId,
      created: true,
      definitionId: graph.id,
      input: run.input,
      claims: [
        {
          runId: run.runId,
          step: 0,
          fence: 1,
          direction: 'forward',
          definitionId: graph.id,
          round: 1,
          attempt: 1,
          failures: 0,
          losses: 0,
          undoOf: null,
        },
      ],
    })
    expect(await worker.held()).toEqual(started?.claims)
    expect(await worker.claim()).toEqual([])
    const { steps } = (await given.adapter.readRun(run.runId))!
    expect(steps).toMatchObject([
      { status: 'running', fence: 1, workerId: worker.id, startedAt: await given.adapter.now() },
      { status: 'pending', fence: 0, workerId: null, startedAt: null },
    ])
  },

  'a run whose first steps were leased at its start continues like any other': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const lease = { workerId: worker.id, handBackMax: 5 }
    const [started] = await given.adapter.startRuns([newRun(given, graph)], { lease })

    const first = await worker.settle([completed(started!.claims![0]!)], 5)
    const second = await worker.settle([completed(first.claims[0]!)])

    expect(second.runs).toMatchObject([{ runId: started!.runId, status: 'completed' }])
  },

  'whole runs are leased, in the order of their ids, until the next has no room; the rest are queued': async (
    given,
  ) => {
    const wide = await given.graph('wide', { a: [], b: [] })
    const runs = Array.from({ length: 3 }, () => newRun(given, wide))
    const worker = await given.worker()
    const other = await given.worker()

    const started = await given.adapter.startRuns([...runs].reverse(), {
      lease: { workerId: worker.id, handBackMax: 3 },
    })

    expect(started.map(({ claims }) => claims?.length)).toEqual([0, 0, 2])
    expect(await worker.held()).toHaveLength(2)
    const queued = await other.take()
    expect(queued.map(({ runId }) => runId)).toEqual([
      runs[1]!.runId,
      runs[1]!.runId,
      runs[2]!.runId,
      runs[2]!.runId,
    ])
  },

  'without room, runs are started and queued': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()

    const [started] = await given.adapter.startRuns([newRun(given, graph)], {
      lease: { workerId: worker.id, handBackMax: 0 },
    })

    expect(started).toMatchObject({ created: true, claims: [] })
    expect(await worker.held()).toEqual([])
    expect(await worker.take()).toHaveLength(1)
  },

  'a run that begins later is queued until then': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const lease = { workerId: worker.id, handBackMax: 5 }
    const later = { ...newRun(given, graph), startDelayMs: 1_000 }
    const past = { ...newRun(given, graph), startAt: (await given.adapter.now()) - 1_000 }

    const started = await given.adapter.startRuns([later, past], { lease })

    expect(started.map(({ claims }) => claims?.length)).toEqual([0, 1])
    expect(await worker.take()).toEqual([])
    await given.advance(1_000)
    expect(await worker.take()).toMatchObject([{ runId: later.runId }])
  },

  'a run with a taken key leases nothing': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const lease = { workerId: worker.id, handBackMax: 5 }
    await given.adapter.startRuns([newRun(given, graph, 'k')])
    const before = await given.snapshot()

    const [again] = await given.adapter.startRuns([newRun(given, graph, 'k')], { lease })

    expect(again).toMatchObject({ created: false, claims: [] })
    expect(await given.snapshot()).toEqual(before)
  },

  'of two new runs with one key, the first is leased, once': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const lease = { workerId: worker.id, handBackMax: 5 }

    const started = await given.adapter.startRuns([newRun(given, graph, 'k'), newRun(given, graph, 'k')], {
      lease,
    })

    expect(started.map(({ created, claims }) => [created, claims?.length])).toEqual([
      [true, 1],
      [false, 0],
    ])
    expect(await worker.held()).toHaveLength(1)
  },

  'an unknown or dead worker can start runs, but gets no lease on them': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const dead = await given.worker()
    await given.expireLeases()
    const heir = await given.worker()
    await given.sweep()

    for (const workerId of [dead.id, given.ids.workerId()]) {
      const [started] = await given.adapter.startRuns([newRun(given, graph)], {
        lease: { workerId, handBackMax: 5 },
      })
      expect(started).toMatchObject({ created: true, claims: [] })
    }

    expect(await heir.take()).toHaveLength(2)
  },

  'steps that were leased at the start are requeued when the worker dies': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const run = newRun(given, graph)
    await given.adapter.startRuns([run], { lease: { workerId: worker.id, handBackMax: 5 } })
    await given.expireLeases()
    const heir = await given.worker()

    const { recovered } = await given.sweep()

    expect(recovered).toEqual([`${run.runId}/0`])
    expect(await heir.take()).toMatchObject([{ runId: run.runId, step: 0, fence: 2, losses: 1 }])
  },
}

function newRun(given: Scenario, graph: Graph, key: string | null = null): NewRun {
  return { runId: given.ids.runId(), definitionId: graph.id, workflow: graph.name, key, input: '1' }
}
