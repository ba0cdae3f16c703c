import { deepEqual, equal } from 'node:assert/strict'
import { completed, LEASE_MS, member, type StoreCases } from '../scenario.ts'

export const owners: StoreCases = {
  async 'a run has one owner'(given) {
    const runs = await Promise.all(Array.from({ length: 20 }, () => given.start()))
    const workers = await Promise.all([given.worker(), given.worker(), given.worker()])

    const claimed = (await Promise.all(workers.map((worker) => given.claim(worker, { max: 20 })))).flat()
    const rest = await given.claim(workers[0]!, { max: 20 })

    deepEqual([...claimed, ...rest].map(({ id }) => id).sort(), runs.map(({ id }) => id).sort())
  },
  async 'runs are claimed by place: those that are due first, earlier with a priority'(given) {
    const worker = await given.worker()
    const first = await given.start()
    await given.advance(30_000)
    const second = await given.start()
    const urgent = await given.start({ priority: 1 })

    const order = [await given.claim(worker, { max: 1 }), await given.claim(worker, { max: 1 })]

    deepEqual(
      order.flat().map(({ id }) => id),
      [urgent.id, first.id],
    )
    deepEqual(
      (await given.claim(worker)).map(({ id }) => id),
      [second.id],
    )
  },
  async 'a run is claimed once its time has come, and the claim says when that is'(given) {
    const worker = await given.worker()
    const { id } = await given.start({ startDelayMs: 5_000 })

    const early = await given.store.claim(worker, {
      definitions: [given.definition],
      max: 1,
      mailed: 'none',
    })
    await given.advance(5_001)

    deepEqual([early.runs, Math.ceil(early.nextMs! / 1_000)], [[], 5])
    deepEqual(
      (await given.claim(worker)).map((run) => [run.id, run.fence, run.steps]),
      [[id, 1, null]],
    )
  },
  async 'only runs of the named definitions are claimed'(given) {
    const worker = await given.worker()
    await given.start()
    await given.define('other')

    deepEqual(await given.claim(worker), [])
  },
  async 'a released run is claimed with its rows'(given) {
    const [one, other] = [await given.worker(), await given.worker()]
    const { id } = await given.start({}, { owner: one })
    const released = member({ run: id, fence: 1, begun: true, after: { due: 0, lead: 0 } })
    await given.store.commit(one, [released])

    const [run] = await given.claim(other)

    deepEqual([run!.fence, run!.begun, run!.lost, run!.steps!.length], [2, true, false, 2])
    deepEqual(await given.store.commit(one, [released]), { result: 'strange', runs: [id] })
  },
  async 'a silent worker is declared dead, and its runs are lost'(given) {
    const [silent, other] = [await given.worker(), await given.worker()]
    const { id } = await given.start({}, { owner: silent })
    await given.advance(LEASE_MS / 2)
    await given.store.renew(other.worker, { leaseMs: LEASE_MS, busy: 0 })
    await given.advance(LEASE_MS / 2 + 1)

    const swept = await given.store.sweep()

    deepEqual([swept.dead.length, swept.runs], [1, 1])
    const [run] = await given.claim(other)
    deepEqual([run!.id, run!.fence, run!.lost], [id, 2, true])
    equal(await given.store.renew(silent.worker, { leaseMs: LEASE_MS, busy: 0 }), 'lost')
    deepEqual(await given.store.commit(silent, [member({ run: id, fence: 1 })]), { result: 'behind' })
    equal(await given.store.bump(silent.worker), null)
    deepEqual(await given.claim(silent), [])
  },
  async 'a run stays lost until its owner has found what was left'(given) {
    const [silent, other] = [await given.worker(), await given.worker()]
    const { id } = await given.start({}, { owner: silent })
    await given.advance(LEASE_MS + 1)
    await given.store.renew(other.worker, { leaseMs: LEASE_MS, busy: 0 })
    await given.store.sweep()
    await given.claim(other)

    const before = await given.peek(id)
    await given.store.commit(other, [member({ run: id, fence: 2, found: true })])

    deepEqual([before.lost, (await given.peek(id)).lost], [true, false])
  },
  async 'a renewal says what the worker owns, and who has free slots'(given) {
    const [one, other] = [await given.worker(), await given.worker()]
    await given.worker(0)
    await given.start({}, { owner: one })
    await given.start({}, { owner: one })

    const mine = await given.store.renew(one.worker, { leaseMs: LEASE_MS, busy: 10 })
    const others = await given.store.renew(other.worker, { leaseMs: LEASE_MS, busy: 0 })

    if (mine === 'lost' || others === 'lost') throw new Error('A live worker is lost.')
    deepEqual([mine.runs, mine.fences, mine.peers], [2, 2, 1])
    deepEqual([others.runs, others.fences, others.peers], [0, 0, 0])
  },
  async 'a commit of an old epoch writes nothing'(given) {
    const worker = await given.worker()
    const { id } = await given.start({}, { owner: worker })
    const epoch = (await given.store.bump(worker.worker))!

    const late = await given.store.commit(worker, [
      member({ run: id, fence: 1, turned: completed(), after: 'ends' }),
    ])

    deepEqual(late, { result: 'behind' })
    equal((await given.peek(id)).status, 'running')
    const again = await given.store.commit({ ...worker, epoch }, [
      member({ run: id, fence: 1, turned: completed(), after: 'ends' }),
    ])
    equal(again.result, 'committed')
  },
  async 'a worker that leaves with nothing is forgotten, and one with runs is lost'(given) {
    const [empty, full] = [await given.worker(), await given.worker()]
    const { id } = await given.start({}, { owner: full })

    await given.store.leave(empty.worker)
    await given.store.leave(full.worker)
    const swept = await given.store.sweep()

    deepEqual([swept.dead.length, swept.runs], [1, 1])
    equal((await given.peek(id)).lost, true)
  },
  async 'load gives the runs of a worker: those named, or all others'(given) {
    const [one, other] = [await given.worker(), await given.worker()]
    const runs = [await given.start({}, { owner: one }), await given.start({}, { owner: one })]
    const foreign = await given.start({}, { owner: other })

    const named = await given.store.load(one.worker, { only: [runs[0]!.id, foreign.id] })
    const rest = await given.store.load(one.worker, { except: [runs[0]!.id] })

    deepEqual([named.map(({ id }) => id), rest.map(({ id }) => id)], [[runs[0]!.id], [runs[1]!.id]])
  },
  async 'named runs are taken whatever they wait for, but not from an owner'(given) {
    const [one, operator] = [await given.worker(), await given.worker(0)]
    const [waiting, owned] = [
      await given.start({ startDelayMs: 60_000 }),
      await given.start({}, { owner: one }),
    ]

    const taken = await given.store.take(operator, [waiting.id, owned.id])

    deepEqual(
      taken.map(({ id, fence, begun }) => [id, fence, begun]),
      [[waiting.id, 1, false]],
    )
    equal(taken[0]!.steps!.length, 2)
  },
  async 'a run that has ended is taken under a higher fence than ever before'(given) {
    const [one, operator] = [await given.worker(), await given.worker(0)]
    const { id } = await given.start({}, { owner: one })
    await given.store.commit(one, [member({ run: id, fence: 1, turned: completed(), after: 'ends' })])

    const [taken] = await given.store.take(operator, [id])
    await given.store.commit(operator, [member({ run: id, fence: taken!.fence, after: 'ends' })])
    const [again] = await given.store.take(operator, [id])

    deepEqual([taken!.fence, taken!.begun, taken!.status, again!.fence], [2, true, 'completed', 3])
  },
}
