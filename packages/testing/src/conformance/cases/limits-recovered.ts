import type { Claim } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, enters, entry, type Scenario } from '../scenario/index.ts'
import { finish, LIMIT, started } from './limits.ts'

export const limitRecoveryCases: Cases = {
  'a slot of a lost worker is freed': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await given.expireLeases()
    await given.sweep()

    expect(await tend(given)).toMatchObject({ queued: true })

    const other = await given.worker()
    const claimed = await other.take()
    expect(claimed.map(({ runId }) => runId).sort()).toEqual(runs.map(({ id }) => id).sort())
    const { results } = await other.settle(claimed.map((claim) => enters(claim, entry(LIMIT))))
    expect([...results].sort()).toEqual(['parked', 'settled'])
    const entered = claimed.filter((_, index) => results[index] === 'settled')
    await other.settleAndFree(...entered.map((claim) => completed(claim)))
    await finish(given, other, runs)
  },

  'a slot whose freeing was lost is freed': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await worker.settle([completed(claims[0]!)])
    expect(await worker.take()).toEqual([])

    expect(await tend(given)).toMatchObject({ queued: true, after: null })

    await finish(given, worker, runs)
  },

  'a slot for which somebody waits is freed by any look, another one at least by a look at all slots': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    const [first, second, alone] = claims as [Claim, Claim, Claim]
    await worker.settle([enters(first, entry(LIMIT)), enters(second, entry(LIMIT))])
    await worker.settle([enters(alone, entry(LIMIT, 'another'))])
    await worker.settle([completed(first), completed(alone)])

    expect(await tend(given, { allSlots: false })).toMatchObject({ queued: true })
    const [taken] = await worker.take()
    expect((await worker.settle([enters(taken!, entry(LIMIT))])).results).toEqual(['settled'])
    await tend(given)
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1 }])

    await worker.settleAndFree(completed(taken!))
    await finish(given, worker, runs)
  },

  'tending leaves slots alone that somebody holds, and lines that are full': async (given) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))

    expect(await tend(given)).toEqual({ queued: false, after: null })

    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 1 }])
  },

  'a parked step of a cancelled run leaves its line': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await given.cancel(runs[1]!)
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 1 }])

    await worker.settleAndFree(completed(claims[0]!))

    expect(await worker.take()).toMatchObject([{ runId: runs[2]!.id }])
  },

  'a turn of which the run was cancelled goes to the next one after a second': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await worker.settleAndFree(completed(claims[0]!))
    await given.cancel(runs[1]!)
    await given.advance(1_001)

    await tend(given)

    expect(await worker.take()).toMatchObject([{ runId: runs[2]!.id }])
  },

  'a paused run leaves the line, and comes back into its place when it is resumed': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await given.operate(runs[1]!).pause()
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 1 }])
    await given.operate(runs[1]!).resume()
    const [resumed] = await worker.take()
    expect((await worker.settle([enters(resumed!, entry(LIMIT))])).results).toEqual(['parked'])

    await worker.settleAndFree(completed(claims[0]!))

    expect(await worker.take()).toMatchObject([{ runId: runs[1]!.id }])
  },

  'a step that was called and does not come is passed over after a second, and keeps its place': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await worker.settleAndFree(completed(claims[0]!))
    expect(await tend(given)).toMatchObject({ queued: false })
    await given.advance(1_001)

    expect(await tend(given)).toMatchObject({ queued: true })

    const called = await worker.take()
    expect(called.map(({ runId }) => runId)).toEqual([runs[1]!.id, runs[2]!.id])
    const [passed, next] = called as [Claim, Claim]
    expect((await worker.settle([enters(next, entry(LIMIT))])).results).toEqual(['settled'])
    expect((await worker.settle([enters(passed, entry(LIMIT))])).results).toEqual(['parked'])
    await worker.settleAndFree(completed(next))
    expect(await worker.take()).toMatchObject([{ runId: runs[1]!.id }])
  },

  'a paused run whose turn comes is left out, and has its place again once it is resumed': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await given.operate(runs[1]!).pause()
    await worker.settleAndFree(completed(claims[0]!))
    const [other] = await worker.take()
    expect(other).toMatchObject({ runId: runs[2]!.id })
    await worker.settle([enters(other!, entry(LIMIT))])
    await given.operate(runs[1]!).resume()
    const [resumed] = await worker.take()
    expect((await worker.settle([enters(resumed!, entry(LIMIT))])).results).toEqual(['parked'])

    await worker.settleAndFree(completed(other!))

    expect(await worker.take()).toMatchObject([{ runId: runs[1]!.id }])
  },

  'a step whose turn comes stands in the queue where its run began': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    const graph = await given.graph('ordinary', { a: [] })
    await given.advance(1_000)
    const ordinary = await given.start(graph)

    await worker.settleAndFree(completed(claims[0]!))

    expect((await worker.take()).map(({ runId }) => runId)).toEqual([runs[1]!.id, ordinary.id])
  },

  'a higher number gives slots to steps that wait, and a lower one lets holders end': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))

    const changed = await given.adapter.setLimit({ name: LIMIT, concurrency: 3 })
    expect(changed).toMatchObject({ concurrency: 3, declared: 1, set: 3 })
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 3 }])
    expect(await tend(given)).toMatchObject({ queued: true })
    const given3 = await worker.take()
    expect(given3).toHaveLength(2)
    await worker.settle(given3.map((claim) => enters(claim, entry(LIMIT))))
    await given.adapter.setLimit({ name: LIMIT, concurrency: 1 })
    await worker.settleAndFree(completed(claims[0]!), completed(given3[0]!))
    expect(await worker.take()).toEqual([])
    await worker.settleAndFree(completed(given3[1]!))
    await finish(given, worker, runs)
  },

  'what is set stays when code declares another number, and goes with a reset': async (given) => {
    await given.adapter.declareLimits([{ name: LIMIT, concurrency: 5 }])
    await given.adapter.setLimit({ name: LIMIT, concurrency: 9 })
    await given.adapter.declareLimits([{ name: LIMIT, concurrency: 7 }])

    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ concurrency: 9, declared: 7, set: 9 }])
    expect(await given.adapter.setLimit({ name: LIMIT, concurrency: null })).toMatchObject({
      ...{ concurrency: 7, declared: 7, set: null },
    })
    expect(await given.adapter.setLimit({ name: 'unheard', concurrency: null })).toBeNull()
  },

  'with no slots at all nobody enters, until there are some': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await given.adapter.setLimit({ name: LIMIT, concurrency: 0 })
    const { results } = await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    expect(results).toEqual(['parked', 'parked'])

    await given.adapter.setLimit({ name: LIMIT, concurrency: null })
    await tend(given)

    expect(await worker.take()).toMatchObject([{ runId: runs[0]!.id }])
  },

  'a pruned run leaves nothing behind': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT))))
    await given.cancel(runs[1]!)
    await given.undo(runs[1]!, { steps: [] })
    await worker.settle([completed(claims[0]!)])
    await given.advance(1_000)

    const finishedBefore = await given.adapter.now()
    const runIds = runs.map(({ id }) => id)
    expect(await given.adapter.prune({ runIds, finishedBefore })).toHaveLength(2)

    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
  },

  'a step tells where it stands in its line': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await worker.settle(claims.map((claim) => enters(claim, entry(LIMIT, 'acme'))))

    expect(await given.adapter.readLimitWaits(runs[2]!.id)).toMatchObject([
      { step: 0, limit: LIMIT, key: 'acme', place: 2, concurrency: 1, inUse: 1 },
    ])
    expect(await given.adapter.readLimitWaits(runs[0]!.id)).toEqual([])
  },
}

function tend(given: Scenario, { allSlots = true } = {}) {
  return given.adapter.tendLimits({ after: null, limit: 100, allSlots })
}
