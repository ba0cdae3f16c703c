import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import {
  completed,
  DIAMOND,
  failed,
  PAIR,
  released,
  retry,
  type Scenario,
  UNLIMITED,
  unstorable,
} from '../scenario/index.ts'

export const settleCases: Cases = {
  'a completion makes those dependents ready that wait for nothing else': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()

    await worker.complete(run, 'a')
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready', c: 'ready', d: 'pending' })
    await worker.complete(run, 'b')

    expect(await run.statuses()).toEqual({ a: 'completed', b: 'completed', c: 'running', d: 'pending' })
    expect((await run.step('d')).openDependencies).toBe(1)
  },

  'a completion records its output, its time and its worker': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.advance(70)

    await worker.settle([completed(claim, '{"total":3}')])

    const step = await run.step('a')
    expect(step).toMatchObject({
      status: 'completed',
      output: '{"total":3}',
      workerId: worker.id,
      fence: 1,
    })
    expect(step.finishedAt! - step.startedAt!).toBeCloseTo(70, 0)
  },

  'two parents that complete in one batch make their dependent ready once': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    const { results } = await worker.complete(run, 'b', 'c')

    expect(results).toEqual(['settled', 'settled'])
    expect(await run.step('d')).toMatchObject({ status: 'ready', openDependencies: 0 })
    expect(await worker.take()).toHaveLength(1)
    expect(await worker.take()).toEqual([])
  },

  'one outcome twice in a batch counts once': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const claim = await worker.claimOf(run, 'b')

    const { results } = await worker.settle([completed(claim), completed(claim)])

    expect(results).toEqual(['settled', 'settled'])
    expect(await run.step('d')).toMatchObject({ status: 'pending', openDependencies: 1 })
  },

  'a settlement that is repeated answers settled, and changes nothing more': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const outcomes = (await worker.claimsOf(run, 'b')).map((claim) => completed(claim))
    await worker.settle(outcomes)
    const before = await given.snapshot()
    await given.advance(10)

    const again = await worker.settle(outcomes, UNLIMITED)

    expect(again).toMatchObject({ results: ['settled'], claims: [], runs: [] })
    expect(await given.snapshot()).toEqual(before)
  },

  'steps that become ready are leased to the settling worker': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()

    const { claims, queued } = await worker.settle([completed(await worker.claimOf(run, 'a'))], 10)

    expect([...claims].sort((one, two) => one.step - two.step)).toEqual(
      [1, 2].map((step) => ({
        runId: run.id,
        step,
        fence: 1,
        direction: 'forward',
        definitionId: run.graph.id,
        round: 1,
        attempt: 1,
        failures: 0,
        losses: 0,
        undoOf: null,
      })),
    )
    expect(queued).toBe(false)
    expect(await run.step('b')).toMatchObject({ status: 'running', workerId: worker.id, fence: 1 })
    expect(await (await given.worker()).take()).toEqual([])
  },

  'steps beyond the worker’s limit are left for any worker': async (given) => {
    const run = await given.fan(10)
    const [worker, other] = [await given.worker(), await given.worker()]

    const { claims, queued } = await worker.settle([completed(await worker.claimOf(run, 'root'))], 3)

    expect(claims).toHaveLength(3)
    expect(queued).toBe(true)
    expect(await other.take()).toHaveLength(7)
  },

  'the hand-back limit covers the whole batch': async (given) => {
    const { worker, outcomes } = await completedRoots(given, 10)

    const { claims } = await worker.settle(outcomes, 4)

    expect(claims).toHaveLength(4)
    expect(await worker.take()).toHaveLength(6)
  },

  'a worker with a hand-back limit of 0 leaves every step in the queue': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()

    const { claims, queued } = await worker.complete(run, 'a')

    expect(claims).toEqual([])
    expect(queued).toBe(true)
    expect(await worker.take()).toHaveLength(2)
  },

  'held returns claims that were handed back in a lost answer': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    const outcomes = [completed(await worker.claimOf(run, 'a'))]
    const { claims } = await worker.settle(outcomes, 10)

    const again = await worker.settle(outcomes, 10)
    const held = await worker.held()

    expect(again).toMatchObject({ results: ['settled'], claims: [] })
    expect([...held].sort((one, two) => one.step - two.step)).toEqual(
      [...claims].sort((one, two) => one.step - two.step),
    )
  },

  'a run completes with the last of its sinks, and not before': async (given) => {
    const run = await given.start(await given.graph('two ends', { a: [], b: ['a'], c: ['a'] }))
    const worker = await given.worker()
    await worker.complete(run, 'a')

    const first = await worker.complete(run, 'b')
    const statusBetween = await run.status()
    await given.advance(5)
    const last = await worker.complete(run, 'c')

    expect(first.runs).toEqual([])
    expect(statusBetween).toBe('running')
    expect(last.runs).toMatchObject([{ runId: run.id, status: 'completed' }])
    const record = await run.record()
    expect(record.status).toBe('completed')
    expect(record.finishedAt! - record.createdAt).toBeCloseTo(5, 0)
  },

  'sinks that complete in one batch complete their runs': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [], c: [] })
    const runs = [await given.start(graph), await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    const claims = await worker.take()
    const left = claims.find(({ runId }) => runId === runs[1]!.id)

    const { runs: moved } = await worker.settle(claims.filter((c) => c !== left).map((c) => completed(c)))

    expect(moved.map(({ runId }) => runId).sort()).toEqual([runs[0]!.id, runs[2]!.id])
    expect(await Promise.all(runs.map((run) => run.status()))).toEqual(['completed', 'running', 'completed'])
  },

  'results come in the order of the outcomes, and a lost outcome does not affect the others': async (
    given,
  ) => {
    const run = await given.loose(4)
    const [worker, other] = [await given.worker(), await given.worker()]
    const mine = await worker.take(2)
    const theirs = await other.take(1)

    const { results } = await worker.settle([
      completed(theirs[0]!),
      completed(mine[1]!),
      completed({ ...mine[0]!, fence: 2 }),
      completed(mine[0]!),
    ])

    expect(results).toEqual(['lost', 'settled', 'lost', 'settled'])
    const statuses = Object.values(await run.statuses())
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(2)
  },

  'results keep their order in a batch of mixed outcomes': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [] })
    const runs = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    const [a, b] = await worker.claimsOf(runs[0]!, 'a', 'b')
    const [c, d] = await worker.claimsOf(runs[1]!, 'a', 'b')
    const gone = { ...a!, fence: 7 }

    const { results } = await worker.settle([
      retry(gone, 0),
      completed(a!),
      completed(gone),
      failed(c!),
      failed(gone),
      retry(b!, 0),
      released(gone),
      released(d!),
    ])

    expect(results).toEqual(['lost', 'settled', 'lost', 'settled', 'lost', 'settled', 'lost', 'settled'])
    expect(await runs[0]!.statuses()).toEqual({ a: 'completed', b: 'ready' })
    expect((await runs[1]!.statuses())['a']).toBe('failed')
  },

  'a retried step that completes makes its dependents ready like any other': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])

    await worker.complete(run, 'a')

    expect(await run.step('a')).toMatchObject({ status: 'completed', fence: 2, failures: 1 })
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready' })
  },

  'an output that the store cannot store answers refused and changes nothing; the rest of its batch is recorded':
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      const runs = [await given.start(graph), await given.start(graph), await given.start(graph)] as const
      const [good, bad, alsoGood] = runs
      const worker = await given.worker()
      await worker.take()
      const claims = await Promise.all(runs.map((run) => worker.claimOf(run, 'a')))
      const refused = claims.find(({ runId }) => runId === bad.id)!

      const { results } = await worker.settle(
        claims.map((claim) => completed(claim, claim === refused ? '{"cut off' : '1')),
      )
      const between = await bad.statuses()
      const instead = await worker.settle([unstorable(refused)])

      expect(results).toEqual(['settled', { refused: expect.stringMatching(/./) }, 'settled'])
      expect(between).toEqual({ a: 'running', b: 'pending' })
      expect(instead.results).toEqual(['settled'])
      expect(await good.statuses()).toEqual({ a: 'completed', b: 'ready' })
      expect(await alsoGood.statuses()).toEqual({ a: 'completed', b: 'ready' })
      expect(await bad.statuses()).toEqual({ a: 'failed', b: 'cancelled' })
    },

  'settling nothing changes nothing': async (given) => {
    const run = await given.start(await given.graph('diamond', DIAMOND))
    const worker = await given.worker()
    const answer = await worker.settle([])
    expect(answer).toEqual({ results: [], claims: [], runs: [], queued: false })
    expect(await run.statuses()).toMatchObject({ a: 'ready' })
  },
}

async function completedRoots(given: Scenario, runs: number) {
  const graph = await given.graph('pair', PAIR)
  for (let made = 0; made < runs; made += 1) await given.start(graph)
  const worker = await given.worker()
  const outcomes = (await worker.take()).map((claim) => completed(claim))
  return { worker, outcomes }
}
