import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed, failed, PAIR, released, retry } from '../scenario/index.ts'

export const drainCases: Cases = {
  'a stopped run is drained once none of its steps is in flight': async (given) => {
    const run = await given.start(await given.graph('siblings', { a: [], b: [], c: ['a'], d: ['c'] }))
    const worker = await given.worker()
    await worker.claimsOf(run, 'a', 'b')
    await worker.fail(run, 'b')

    const tooEarly = await given.drain()
    await worker.complete(run, 'a')
    const drained = await given.drain()

    expect(tooEarly).toEqual([])
    expect(drained).toEqual([
      {
        runId: run.id,
        definitionId: run.graph.id,
        stop: 'failure',
        fences: 2,
        steps: [
          { step: 0, status: 'completed', started: true, succeeded: false },
          { step: 1, status: 'failed', started: true, succeeded: false },
          { step: 2, status: 'cancelled', started: false, succeeded: false },
          { step: 3, status: 'cancelled', started: false, succeeded: false },
        ],
      },
    ])
  },

  'a run that goes forward, or has ended, is not drained': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [ended] = [await given.start(graph), await given.start(graph)]
    await (await given.worker()).complete(ended, 'a')
    expect(await given.drain()).toEqual([])
  },

  'a cancelled run in which nothing had begun is drained at once': async (given) => {
    const run = await given.pair()
    await given.cancel(run)

    const [drained] = await given.drain()

    expect(drained?.stop).toBe('cancellation')
    expect(drained?.steps).toEqual([
      { step: 0, status: 'cancelled', started: false, succeeded: false },
      { step: 1, status: 'cancelled', started: false, succeeded: false },
    ])
    expect(await run.statuses()).toEqual({ a: 'cancelled', b: 'cancelled' })
  },

  'drain returns a drained run until its undo begins, and then no more': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.fail(run, 'b')

    const first = await given.drain()
    const again = await given.drain()
    await given.undo(run)
    const after = await given.drain()

    expect(first).toHaveLength(1)
    expect(again).toEqual(first)
    expect(after).toEqual([])
    expect(await run.statuses()).toEqual({ a: 'compensating', b: 'failed' })
  },

  'drained runs come oldest first, up to the limit': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = [await given.start(graph), await given.start(graph), await given.start(graph)]
    await given.cancel(...[...runs].reverse())

    const drained = await given.drain({ limit: 2 })

    expect(drained.map(({ runId }) => runId)).toEqual([runs[0]!.id, runs[1]!.id])
  },

  'only runs of the given definitions and ids are drained': async (given) => {
    const [one, two] = [await given.graph('one', PAIR), await given.graph('two', PAIR)]
    const runs = [await given.start(one), await given.start(two), await given.start(two)]
    await given.cancel(...runs)
    const drain = (definitionIds: number[], runIds?: string[]) =>
      given.adapter.drain({ definitionIds, runIds, limit: 10 })

    const ofTwo = await drain([two.id])
    const named = await drain([one.id, two.id], [runs[2]!.id])

    expect(ofTwo.map(({ runId }) => runId)).toEqual([runs[1]!.id, runs[2]!.id])
    expect(named.map(({ runId }) => runId)).toEqual([runs[2]!.id])
    expect(await drain([])).toEqual([])
    expect(await drain([one.id], [runs[2]!.id])).toEqual([])
    expect(await drain([one.id, two.id], [])).toEqual([])
  },

  'a run with a step in flight does not delay the drain of newer runs': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [] })
    const [busy, idle] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.claimsOf(busy, 'a', 'b')
    await worker.fail(busy, 'a')
    await worker.settle((await worker.claimsOf(idle, 'a')).map((claim) => completed(claim)))
    await worker.fail(idle, 'b')

    const drained = await given.drain({ limit: 10 })

    expect(drained.map(({ runId }) => runId)).toEqual([idle.id])
  },

  'a run is drained even if the worker of its last step in flight dies': async (given) => {
    const run = await given.loose(2)
    const [dying, worker] = [await given.worker(), await given.worker()]
    const [lost] = await dying.take(1)
    await worker.fail(run, run.graph.nameOf(1 - lost!.step))
    await given.expireLeases()

    const tooEarly = await given.drain()
    await given.sweep()
    const [drained] = await given.drain()

    expect(tooEarly).toEqual([])
    expect(drained?.steps[lost!.step]).toEqual({
      step: lost!.step,
      status: 'cancelled',
      started: true,
      succeeded: false,
    })
    expect((await run.step(run.graph.nameOf(lost!.step))).losses).toBe(1)
  },

  'a step that was released before its handler began has not started': async (given) => {
    const run = await given.loose(4)
    const worker = await given.worker()
    const [failing, unbegun, begun, untold] = await worker.claimsOf(run, 's0', 's1', 's2', 's3')
    await worker.settle([released(unbegun!, false), released(begun!, true), released(untold!)])
    await worker.settle([failed(failing!)])

    const [drained] = await given.drain()

    expect(drained?.steps.map(({ started }) => started)).toEqual([true, false, true, true])
  },

  'a step that was released before its handler began has started if an earlier attempt had begun': async (
    given,
  ) => {
    const run = await given.loose(4)
    const [dying, worker] = [await given.worker(), await given.worker()]
    const lost = await dying.claimOf(run, 's0')
    await dying.settle((await dying.claimsOf(run, 's1', 's2', 's3')).map((claim) => released(claim, false)))
    await given.expireLeases()
    await given.sweep()
    const heir = await given.worker()
    await heir.settle([retry(await heir.claimOf(run, 's1'), 0)])
    await heir.take()
    await heir.settle((await heir.claimsOf(run, 's0', 's1', 's2')).map((claim) => released(claim, false)))
    await heir.fail(run, 's3')

    const [drained] = await given.drain()

    expect(await worker.claim()).toBe('lost')
    expect(lost.fence).toBe(1)
    // s0 was lost with its worker, s1 was retried; s2 never began.
    expect(drained?.steps.map(({ started }) => started)).toEqual([true, true, false, true])
  },

  'a claim whose answer was lost delays the drain until its lease ends': async (given) => {
    const run = await given.start(await given.graph('siblings', { a: [], b: [], c: ['a'] }))
    const deaf = await given.worker()
    const [a, b] = await deaf.claimsOf(run, 'a', 'b')
    await deaf.adapter.settle({ workerId: deaf.id, outcomes: [completed(a!)], handBackMax: 10 })
    await deaf.settle([failed(b!)])

    const tooEarly = await given.drain()
    const held = await deaf.held()
    await given.expireLeases()
    await given.sweep()

    expect(tooEarly).toEqual([])
    expect(held).toMatchObject([{ step: 2, fence: 1 }])
    expect((await given.drain())[0]?.steps[2]).toEqual({
      step: 2,
      status: 'cancelled',
      started: true,
      succeeded: false,
    })
  },

  'two steps that end at the same moment in two processes leave the run drained': withSecond(
    async (given, second) => {
      const graph = await given.graph('three', { a: [], b: [], c: [] })
      for (let round = 0; round < 5; round += 1) {
        const run = await given.start(graph)
        const [one, two] = [await given.worker(), await given.worker(second)]
        const mine = (await one.take(2)).map(({ step }) => graph.nameOf(step))
        const theirs = (await two.take(1)).map(({ step }) => graph.nameOf(step))
        await one.fail(run, mine[0]!)

        await Promise.all([one.complete(run, mine[1]!), two.complete(run, theirs[0]!)])
        const drained = await given.drain({ runs: [run] })

        expect(drained.map(({ runId }) => runId)).toEqual([run.id])
      }
    },
  ),
}
