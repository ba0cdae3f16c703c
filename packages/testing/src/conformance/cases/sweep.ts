import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed, LEASE_MS, PAIR, retry, type Scenario } from '../scenario/index.ts'

export const sweepCases: Cases = {
  'steps of a worker whose lease expired become ready again, with one more loss': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    const swept = await given.adapter.sweep({ limit: 100 })

    expect(swept.lostWorkers).toEqual([worker.id])
    expect([...swept.recovered].sort((one, two) => one.step - two.step)).toEqual(
      [0, 1].map((step) => ({
        runId: run.id,
        step,
        fence: 1,
        direction: 'forward',
        definitionId: run.graph.id,
        round: 1,
        attempt: 1,
        losses: 1,
        itemKey: null,
        startedAt: expect.any(Number),
      })),
    )
    const recovered = { status: 'ready', fence: 1, attempts: 1, losses: 1, failures: 0, workerId: null }
    expect((await run.read()).steps).toMatchObject([recovered, recovered])
    expect(await (await given.worker()).take()).toMatchObject([
      { fence: 2, losses: 1 },
      { fence: 2, losses: 1 },
    ])
  },

  'a sweep with nothing to do changes nothing': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await worker.take()
    const before = await given.snapshot()

    const swept = await given.adapter.sweep({ limit: 100 })

    expect(swept).toEqual({ lostWorkers: [], recovered: [], more: false })
    expect(await given.snapshot()).toEqual(before)
  },

  'a live worker keeps its steps when another one dies': async (given) => {
    const run = await given.loose(4)
    const [dying, living] = [await given.worker(), await given.worker()]
    await dying.take(2)
    const kept = await living.take(2)
    await given.advance(LEASE_MS - 500)
    await given.adapter.renew({ workerId: living.id, leaseMs: LEASE_MS })
    await given.advance(1_000)

    const { lostWorkers, recovered } = await given.sweep()

    expect(lostWorkers).toEqual([dying.id])
    expect(recovered).toHaveLength(2)
    expect((await living.settle(kept.map((claim) => completed(claim)))).results).toEqual([
      'settled',
      'settled',
    ])
    expect((await run.read()).steps.reduce((sum, { losses }) => sum + losses, 0)).toBe(2)
  },

  'steps that a settlement handed back are lost with their worker like claimed ones': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(run, 'a'))], 10)
    await given.expireLeases()

    const { recovered } = await given.sweep()

    expect(recovered).toEqual([`${run.id}/1`])
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'ready' })
  },

  'steps that a dead worker had finished stay unchanged': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    const [, second] = await worker.claimsOf(run, 's0', 's1', 's2')
    await worker.complete(run, 's0')
    await worker.settle([retry(second!, 60_000)])
    const before = await run.read()
    await given.expireLeases()

    expect((await given.sweep()).recovered).toEqual([`${run.id}/2`])
    const after = await run.read()
    expect(after.steps.slice(0, 2)).toEqual(before.steps.slice(0, 2))
  },

  'losses are counted separately from failures': async (given) => {
    const run = await given.pair()
    const first = await given.worker()
    await first.settle([retry(await first.claimOf(run, 'a'), 0)])
    await first.take()
    await given.expireLeases()
    await given.sweep()
    const second = await given.worker()
    await second.take()
    await given.expireLeases()
    await given.sweep()

    expect(await run.step('a')).toMatchObject({ fence: 3, failures: 1, losses: 2 })
  },

  'a bounded sweep requeues a part of the steps, says that there are more, and ends': async (given) => {
    const graph = await given.graph('pair', PAIR)
    for (let made = 0; made < 7; made += 1) await given.start(graph)
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    const { recovered, largest, rounds } = await sweepInParts(given, 2)

    expect(recovered).toHaveLength(7)
    expect(new Set(recovered).size).toBe(7)
    expect(largest).toBeLessThanOrEqual(2)
    expect(rounds).toBeGreaterThanOrEqual(4)
    expect(await (await given.worker()).take()).toHaveLength(7)
  },

  'a worker cannot register again while its steps are being requeued': async (given) => {
    const graph = await given.graph('pair', PAIR)
    for (let made = 0; made < 5; made += 1) await given.start(graph)
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()
    await given.adapter.sweep({ limit: 1 })

    // The store may refuse or ignore it.
    await given.adapter
      .registerWorker({ workerId: worker.id, name: 'worker', leaseMs: LEASE_MS })
      .catch(() => undefined)

    expect(await worker.claim()).toBe('lost')
    expect(await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })).toBe('lost')
    await given.sweep()
    expect(await (await given.worker()).take()).toHaveLength(5)
  },

  'a worker that dies during the sweep of another is swept as well': async (given) => {
    const graph = await given.graph('pair', PAIR)
    for (let made = 0; made < 6; made += 1) await given.start(graph)
    const first = await given.worker()
    await first.take(3)
    await given.expireLeases()
    const second = await given.worker()
    await second.take(3)
    await given.adapter.sweep({ limit: 1 })
    await given.expireLeases()

    const { lostWorkers } = await given.sweep()

    expect(lostWorkers).toEqual([second.id])
    expect(await (await given.worker()).take()).toHaveLength(6)
  },

  'two processes that sweep at the same moment requeue every step once': withSecond(async (given, second) => {
    const run = await given.loose(40)
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    const swept = await Promise.all([given.sweep(), given.sweep(second)])
    const rest = await given.sweep()

    const recovered = [...swept, rest].flatMap((part) => part.recovered)
    expect([...swept, rest].flatMap((part) => part.lostWorkers)).toEqual([worker.id])
    expect(new Set(recovered).size).toBe(40)
    expect(recovered).toHaveLength(40)
    expect((await run.read()).steps.every(({ losses }) => losses === 1)).toBe(true)
  }),
}

/** Sweeps with a small limit until nothing is left, and checks how much each call did. */
async function sweepInParts(given: Scenario, limit: number) {
  const recovered: string[] = []
  let largest = 0
  for (let rounds = 1; rounds <= 100; rounds += 1) {
    const swept = await given.adapter.sweep({ limit })
    recovered.push(...swept.recovered.map(({ runId, step }) => `${runId}/${step}`))
    largest = Math.max(largest, swept.recovered.length)
    if (!swept.more) return { recovered, largest, rounds }
  }
  throw new Error('A hundred sweeps in a row answered that there was more to do.')
}
