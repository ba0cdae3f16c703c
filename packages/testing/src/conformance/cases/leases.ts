import type { Claim } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, LEASE_MS, PAIR, retry } from '../scenario/index.ts'

export const leaseCases: Cases = {
  'held returns the same steps, however often it is asked, while other steps end': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const kept: Claim[] = []
    for (let round = 0; round < 5; round += 1) {
      const runs = [await given.start(graph), await given.start(graph), await given.start(graph)]
      const [first, second, third] = await worker.take()
      await worker.settle([completed(first!)], 1)
      await worker.complete(runs.find(({ id }) => id === first!.runId)!, 'b')
      await worker.settle([retry(second!, 60_000)])
      kept.push(third!)

      const held = await worker.held()

      const names = (claims: readonly Claim[]) => claims.map(({ runId, step }) => `${runId}/${step}`).sort()
      expect(names(held)).toEqual(names(kept))
    }
  },

  'a renewal keeps the worker, and every step it holds, beyond its first lease': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    await worker.take()

    for (let renewal = 0; renewal < 4; renewal += 1) {
      await given.advance(LEASE_MS / 2)
      expect(await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })).not.toBe('lost')
      expect(await given.sweep()).toEqual({ lostWorkers: [], recovered: [] })
    }

    expect((await worker.complete(run, 's0', 's1', 's2')).results).toEqual(['settled', 'settled', 'settled'])
    expect(await run.step('s0')).toMatchObject({ fence: 1, losses: 0 })
  },

  'a renewal lasts for the given time': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await given.adapter.renew({ workerId: worker.id, leaseMs: 10 * LEASE_MS })

    await given.advance(9 * LEASE_MS)
    const within = await given.sweep()
    await given.advance(LEASE_MS + 1)
    const after = await given.sweep()

    expect(within.lostWorkers).toEqual([])
    expect(after.lostWorkers).toEqual([worker.id])
  },

  'a worker whose lease expired keeps its steps until it is declared dead': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    expect(await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })).not.toBe('lost')
    expect((await given.sweep()).lostWorkers).toEqual([])
    expect((await worker.complete(run, 'a')).results).toEqual(['settled'])
  },

  'a worker that was declared dead learns it at its next renewal': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()
    await given.sweep()

    expect(await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })).toBe('lost')
    expect(await worker.claim()).toBe('lost')
    expect(await worker.held()).toEqual([])
  },

  'an unknown worker cannot renew': async ({ adapter, ids }) => {
    expect(await adapter.renew({ workerId: ids.workerId(), leaseMs: LEASE_MS })).toBe('lost')
  },

  'registering a live worker again does not change what it holds': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()

    await given.adapter.registerWorker({ workerId: worker.id, name: 'worker', leaseMs: LEASE_MS })

    expect(await worker.held()).toHaveLength(1)
    expect((await worker.complete(run, 'a')).results).toEqual(['settled'])
    expect(await worker.take()).toHaveLength(1)
  },

  'a worker that left is lost, and no sweep reports it': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    await given.adapter.deregisterWorker({ workerId: worker.id })
    await given.adapter.deregisterWorker({ workerId: worker.id })
    await given.expireLeases()

    expect(await worker.claim()).toBe('lost')
    expect(await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })).toBe('lost')
    expect((await given.sweep()).lostWorkers).toEqual([])
    expect(await run.step('a')).toMatchObject({ status: 'completed', workerId: worker.id })
  },

  'a worker that leaves while it holds a step does not strand it': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.take()

    await given.adapter.deregisterWorker({ workerId: worker.id })
    await given.expireLeases()
    await given.sweep()

    expect(await run.step('a')).toMatchObject({ status: 'ready', workerId: null })
    expect(await (await given.worker()).take()).toMatchObject([{ step: 0, fence: 2 }])
  },

  'workers are told apart by id: another with the same name is not affected': async (given) => {
    await given.loose(2)
    const [gone, staying] = [await given.worker(), await given.worker()]
    await gone.take(1)
    await staying.take(1)
    await given.advance(LEASE_MS - 100)
    await given.adapter.renew({ workerId: staying.id, leaseMs: LEASE_MS })
    await given.advance(200)

    expect((await given.sweep()).lostWorkers).toEqual([gone.id])
    expect(await staying.held()).toHaveLength(1)
  },
}
