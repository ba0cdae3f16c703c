import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { PAIR, retry } from '../scenario/index.ts'

export const claimCases: Cases = {
  'a claim names its attempt, and the step is held by the worker': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.advance(50)

    const claims = await worker.take()

    expect(claims).toEqual([
      {
        runId: run.id,
        step: 0,
        fence: 1,
        direction: 'forward',
        definitionId: run.graph.id,
        round: 1,
        attempt: 1,
        failures: 0,
        losses: 0,
        undoOf: null,
      },
    ])
    const step = await run.step('a')
    expect(step).toMatchObject({ status: 'running', workerId: worker.id, fence: 1, finishedAt: null })
    expect(Math.abs(step.startedAt! - (await given.adapter.now()))).toBeLessThan(1)
    expect(await run.status()).toBe('running')
  },

  'an input that comes with a claim is the input of its run': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const inputs = new Map<string, string | null>()
    for (const input of ['{"small":true}', JSON.stringify('large '.repeat(50_000)), 'null', null]) {
      inputs.set((await given.start(graph, { input })).id, input)
    }
    const worker = await given.worker()

    const claimed = await given.adapter.claim({ workerId: worker.id, definitionIds: [graph.id], limit: 10 })

    const claims = claimed === 'lost' ? [] : claimed.claims
    expect(claims).toHaveLength(4)
    for (const { runId, input } of claims) {
      if (input !== undefined) expect(input).toBe(inputs.get(runId))
    }
  },

  'a claimed step is not claimed again': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await worker.take()

    expect(await worker.take()).toEqual([])
    expect(await (await given.worker()).take()).toEqual([])
  },

  'a step with open dependencies is not claimed': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()

    await worker.complete(run, 'a')
    await worker.complete(run, 'b')
    const claims = await worker.take()

    // c is remembered from the claim that also returned b; d still waits for c.
    expect(claims).toEqual([])
    expect(await run.statuses()).toMatchObject({ c: 'running', d: 'pending' })
  },

  'no more than the limit is claimed, and a limit of 0 claims nothing': async (given) => {
    await given.loose(5)
    const worker = await given.worker()

    expect(await worker.take(0)).toHaveLength(0)
    expect(await worker.take(2)).toHaveLength(2)
    expect(await worker.take(100)).toHaveLength(3)
  },

  'the step that has been available longest is claimed first': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs: string[] = []
    for (let age = 0; age < 3; age += 1) {
      runs.push((await given.start(graph)).id)
      await given.advance(10)
    }
    const worker = await given.worker()
    const [first] = await worker.take(1)
    await worker.settle([retry(first!, 5)])
    await given.advance(10)
    runs.push((await given.start(graph)).id)

    const order: (string | undefined)[] = []
    for (let turn = 0; turn < 4; turn += 1) order.push((await worker.take(1))[0]?.runId)

    // The retried one has been available for longer than the newest run, and for less than the rest.
    expect([first!.runId, ...order]).toEqual([runs[0], runs[1], runs[2], runs[0], runs[3]])
  },

  'only steps of the named definitions are claimed': async (given) => {
    const [one, two] = [await given.graph('one', PAIR), await given.graph('two', PAIR)]
    await given.start(one)
    const wanted = await given.start(two)
    const worker = await given.worker()

    expect(await worker.claim(10, [])).toEqual([])
    const claims = await worker.claim(10, [two])

    expect(claims).toMatchObject([{ runId: wanted.id, definitionId: two.id }])
    expect(await worker.claim(10, [one, two])).toHaveLength(1)
  },

  'a step that is due later is claimable from then on, not before': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 1_000)])

    await given.advance(999)
    const early = await worker.take()
    await given.advance(1)
    const due = await worker.take()

    expect(early).toEqual([])
    expect(due).toMatchObject([{ step: 0, fence: 2 }])
  },

  'steps of a stopped run are not claimed, and do not hide other steps': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const stopped = [await given.start(graph), await given.start(graph), await given.start(graph)]
    await given.advance(10)
    const going = await given.start(graph)
    await given.cancel(...stopped)
    const worker = await given.worker()

    // Queue rows left by stopped runs may cost a claim or two, but no more.
    const claims = []
    for (let turn = 0; turn < 5; turn += 1) claims.push(...(await worker.take(1)))

    expect(claims.map(({ runId }) => runId)).toEqual([going.id])
  },

  'a claim of one step finds it behind a thousand steps of stopped runs': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const stopped = Array.from({ length: 1_000 }, () => ({
      runId: given.ids.runId(),
      definitionId: graph.id,
      workflow: graph.name,
      key: null,
      input: null,
    }))
    await given.adapter.startRuns(stopped)
    await given.advance(10)
    const going = await given.start(graph)
    const runIds = stopped.map(({ runId }) => runId)
    await given.adapter.cancelRuns({ runIds, cause: '{"type":"cancelled"}' })
    const worker = await given.worker()

    const claimed = await given.adapter.claim({ workerId: worker.id, definitionIds: [graph.id], limit: 1 })

    expect(claimed).toMatchObject({ claims: [{ runId: going.id, step: 0 }] })
  },

  'an unknown worker gets lost as its answer, and no steps': async (given) => {
    const run = await given.pair()
    const answer = await given.adapter.claim({
      workerId: given.ids.workerId(),
      definitionIds: [run.graph.id],
      limit: 10,
    })

    expect(answer).toBe('lost')
    expect(await run.statuses()).toEqual({ a: 'ready', b: 'pending' })
  },

  'a worker that was declared dead gets lost as its answer, and no steps': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.expireLeases()
    await given.sweep()

    expect(await worker.claim()).toBe('lost')
    expect(await run.statuses()).toEqual({ a: 'ready', b: 'pending' })
  },

  'a worker whose lease expired is not lost until it is declared dead': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await given.expireLeases()
    expect(await worker.claim()).toHaveLength(1)
  },

  'held returns everything a worker holds, and nothing else': async (given) => {
    const run = await given.loose(4)
    const [worker, other] = [await given.worker(), await given.worker()]
    const mine = await worker.take(3)
    await other.take(1)
    await worker.complete(run, run.graph.nameOf(mine[0]!.step))

    const held = await worker.held()

    expect([...held].sort((one, two) => one.step - two.step)).toEqual(
      mine.slice(1).sort((one, two) => one.step - two.step),
    )
    expect(await other.held()).toHaveLength(1)
    expect(await given.adapter.held({ workerId: given.ids.workerId() })).toEqual([])
  },

  'workers that claim at the same moment share the steps, each step once': withSecond(
    async (given, second) => {
      const run = await given.loose(60)
      const workers = [await given.worker(), await given.worker(second), await given.worker(second)]

      const claimed = await Promise.all(
        workers.flatMap((worker) => [worker.take(10), worker.take(10), worker.take(10)]),
      )
      // A claim may skip what another claim has locked. The next claim finds it.
      const rest = await workers[0]!.take()

      const steps = [...claimed.flat(), ...rest].map(({ step }) => step)
      expect(steps.sort((one, two) => one - two)).toEqual(Array.from({ length: 60 }, (_, step) => step))
      expect(Object.values(await run.statuses()).every((status) => status === 'running')).toBe(true)
    },
  ),
}
