import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed, LEASE_MS, PAIR } from '../scenario/index.ts'

export const workerCases: Cases = {
  'a worker is listed with what it reported about itself': async (given) => {
    const [one, two] = [await given.graph('b', PAIR, 2), await given.graph('a', PAIR)]
    const workerId = given.ids.workerId()
    const startedAt = await given.adapter.now()

    await given.adapter.registerWorker({
      workerId,
      name: 'packer',
      leaseMs: LEASE_MS,
      slots: 20,
      host: 'machine-7',
      definitionIds: [one.id, two.id],
    })

    expect(await given.adapter.listWorkers({ limit: 10 })).toEqual([
      {
        workerId,
        name: 'packer',
        status: 'live',
        startedAt,
        renewedAt: startedAt,
        leaseExpiresAt: startedAt + LEASE_MS,
        slots: 20,
        busy: null,
        host: 'machine-7',
        definitionIds: [one.id, two.id],
        workflows: [
          { name: 'a', version: 1 },
          { name: 'b', version: 2 },
        ],
      },
    ])
  },

  'a worker that reported only its name is listed too': async (given) => {
    const worker = await given.worker()

    const [listed] = await given.adapter.listWorkers({ limit: 10 })

    expect(listed).toMatchObject({ workerId: worker.id, slots: null, definitionIds: null, workflows: null })
  },

  'a worker that reports no workflows differs from one that does not report them': async ({
    adapter,
    ids,
  }) => {
    await adapter.registerWorker({
      workerId: ids.workerId(),
      name: 'w',
      leaseMs: LEASE_MS,
      definitionIds: [],
    })

    expect((await adapter.listWorkers({ limit: 1 }))[0]).toMatchObject({ definitionIds: [], workflows: [] })
  },

  'a renewal records how busy the worker is, and when it renewed': async (given) => {
    const worker = await given.worker()
    const startedAt = await given.adapter.now()
    await given.advance(1_000)

    await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS, busy: 7 })
    const [busy] = await given.adapter.listWorkers({ limit: 10 })
    await given.adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS })
    const [silent] = await given.adapter.listWorkers({ limit: 10 })

    const renewedAt = startedAt + 1_000
    expect(busy).toMatchObject({ startedAt, renewedAt, leaseExpiresAt: renewedAt + LEASE_MS, busy: 7 })
    expect(silent).toMatchObject({ busy: 7 })
  },

  'registering again updates what the worker reports, and keeps when it first registered': async (given) => {
    const worker = await given.worker()
    const startedAt = await given.adapter.now()
    await given.advance(500)

    await given.adapter.registerWorker({ workerId: worker.id, name: 'again', leaseMs: LEASE_MS, slots: 3 })

    expect(await given.adapter.listWorkers({ limit: 10 })).toMatchObject([
      { workerId: worker.id, name: 'again', slots: 3, startedAt, renewedAt: startedAt + 500 },
    ])
  },

  'workers are listed longest registered first, up to the limit': async (given) => {
    const workers: string[] = []
    for (let n = 0; n < 3; n += 1) {
      workers.push((await given.worker()).id)
      await given.advance(1)
    }

    expect((await given.adapter.listWorkers({ limit: 2 })).map(({ workerId }) => workerId)).toEqual(
      workers.slice(0, 2),
    )
  },

  'a worker that left, or whose steps were requeued, is not listed any more': async (given) => {
    await given.pair()
    const [leaving, dying, staying] = [await given.worker(), await given.worker(), await given.worker()]
    await dying.take()
    await given.adapter.deregisterWorker({ workerId: leaving.id })
    await given.advance(LEASE_MS - 1)
    await given.adapter.renew({ workerId: staying.id, leaseMs: LEASE_MS })
    await given.advance(2)

    const unnoticed = await given.adapter.listWorkers({ limit: 10 })
    await given.sweep()

    expect(unnoticed.map(({ workerId, status }) => [workerId, status])).toEqual([
      [dying.id, 'live'],
      [staying.id, 'live'],
    ])
    expect((await given.adapter.listWorkers({ limit: 10 })).map(({ workerId }) => workerId)).toEqual([
      staying.id,
    ])
  },

  'a worker that leaves while it holds a step is listed without a lease until it is swept': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await worker.take()

    await given.adapter.deregisterWorker({ workerId: worker.id })

    expect(await given.adapter.listWorkers({ limit: 10 })).toMatchObject([
      { workerId: worker.id, leaseExpiresAt: null },
    ])
  },

  'the steps a worker holds are listed by name, with their attempt and since when': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(run, 'a'))], 10)
    await given.advance(1_000)
    const since = (await run.step('b')).startedAt

    const held = await given.adapter.listHeld({ workerId: worker.id, limit: 10 })

    expect(held).toEqual([
      {
        runId: run.id,
        workflow: 'pair',
        version: 1,
        step: 1,
        name: 'b',
        attempt: 1,
        direction: 'forward',
        since,
      },
    ])
  },

  'held undos are listed too; other workers’ steps are not': async (given) => {
    const run = await given.pair()
    const [worker, other] = [await given.worker(), await given.worker()]
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await worker.take()

    expect(await given.adapter.listHeld({ workerId: worker.id, limit: 10 })).toMatchObject([
      { name: 'a', attempt: 1, direction: 'undo' },
    ])
    expect(await given.adapter.listHeld({ workerId: other.id, limit: 10 })).toEqual([])
    expect(await given.adapter.listHeld({ workerId: given.ids.workerId(), limit: 10 })).toEqual([])
  },

  'no more held steps are listed than asked for': async (given) => {
    await given.loose(5)
    const worker = await given.worker()
    await worker.take()

    const held = await given.adapter.listHeld({ workerId: worker.id, limit: 3 })

    expect(held.map(({ name }) => name)).toEqual(['s0', 's1', 's2'])
  },

  'workers of two processes see each other': withSecond(async (given, second) => {
    const [one, two] = [await given.worker(), await given.worker(second)]

    const seen = await Promise.all(
      [given.adapter, second].map((adapter) => adapter.listWorkers({ limit: 10 })),
    )

    for (const list of seen)
      expect(list.map(({ workerId }) => workerId).sort()).toEqual([one.id, two.id].sort())
  }),
}
