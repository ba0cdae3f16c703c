import { type Claim, type LimitEntry, skipText } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, enters, entry } from '../scenario/index.ts'
import { finish, LIMIT, started } from './limits.ts'

/** A place for which a step does not wait. */
const OR_SKIP: LimitEntry = { ...entry(LIMIT), ifFull: skipText({ because: 'limit', limit: LIMIT, key: '' }) }

/** A place for which a run does not wait. */
const OR_CANCEL: LimitEntry = {
  ...entry(LIMIT, '', 'run'),
  ifFull: JSON.stringify({ type: 'limit_reached', limit: LIMIT, key: '' }),
}

export const limitLeftCases: Cases = {
  'a step that does not wait is skipped if there is no slot, and its run goes on': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[0]!, OR_SKIP)])

    const { results, runs: changed } = await worker.settle([enters(claims[1]!, OR_SKIP)])

    expect(results).toEqual([{ full: OR_SKIP }])
    expect(changed).toMatchObject([{ runId: runs[1]!.id, status: 'completed' }])
    expect(await runs[1]!.step('a')).toMatchObject({ status: 'skipped', branch: OR_SKIP.ifFull })
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 1, waiting: 0 }])
    await worker.settleAndFree(completed(claims[0]!))
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0 }])
  },

  'a step that does not wait goes on if there is a slot': async (given) => {
    const { worker, claims } = await started(given, { slots: 2, runs: 2 })

    const { results } = await worker.settle(claims.map((claim) => enters(claim, OR_SKIP)))

    expect(results).toEqual(['settled', 'settled'])
  },

  'a step is skipped with its dependents counted down, in the commit that found no slot': async (given) => {
    await given.adapter.declareLimits([{ name: LIMIT, concurrency: 1 }])
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    const [first, second] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.settle([enters(await worker.claimOf(first, 'a'), OR_SKIP)])

    const { results, claims } = await worker.settle([enters(await worker.claimOf(second, 'a'), OR_SKIP)], 10)

    expect(results).toEqual([{ full: OR_SKIP }])
    expect(claims).toMatchObject([{ runId: second.id, step: 1 }])
    await worker.settle(claims.map((claim) => completed(claim)))
    expect(await second.status()).toBe('completed')
  },

  'asking again after a skip, because the answer was lost, changes nothing': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[0]!, OR_SKIP)])
    await worker.settle([enters(claims[1]!, OR_SKIP)])
    const before = await given.snapshot()

    expect((await worker.settle([enters(claims[1]!, OR_SKIP)])).results).toEqual(['parked'])

    expect(await given.snapshot()).toEqual(before)
    expect(await runs[1]!.status()).toBe('completed')
  },

  'a slot that a step waited for is free for the next one when it is skipped for another limit': async (
    given,
  ) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 3 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const narrow: LimitEntry = { ...OR_SKIP, limit: 'narrow' }
    const [holder, both, last] = claims as [Claim, Claim, Claim]
    await worker.settle([enters(holder, entry(LIMIT))])
    await worker.settle([enters(both, entry(LIMIT), narrow)])
    await worker.settle([enters(last, entry(LIMIT))])
    await given.adapter.setLimit({ name: 'narrow', concurrency: 0 })
    await worker.settleAndFree(completed(holder))
    const [given1] = await worker.take()

    const { results, queued } = await worker.settle([enters(given1!, entry(LIMIT), narrow)])

    expect(results).toEqual([{ full: narrow }])
    expect(queued).toBe(true)
    expect(await worker.take()).toMatchObject([{ runId: last.runId }])
    expect(await runs[1]!.status()).toBe('completed')
  },

  'a step that waits for one limit does not wait for a slot of one that it would leave': async (given) => {
    const { worker, claims } = await started(given, { slots: 1, runs: 2 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const narrow: LimitEntry = { ...OR_SKIP, limit: 'narrow' }
    await worker.settle([enters(claims[0]!, entry(LIMIT))])

    expect((await worker.settle([enters(claims[1]!, entry(LIMIT), narrow)])).results).toEqual(['parked'])
    expect(await given.adapter.readLimits(['narrow'])).toMatchObject([{ inUse: 0, waiting: 0 }])
    await worker.settleAndFree(completed(claims[0]!))
    const [next] = await worker.take()
    expect((await worker.settle([enters(next!, entry(LIMIT), narrow)])).results).toEqual(['settled'])
  },

  'a step is not skipped as long as its run waits for a slot': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await given.adapter.declareLimits([{ name: 'runs', concurrency: 1 }])
    const asked = (claim: Claim) => enters(claim, OR_SKIP, entry('runs', '', 'run'))
    await worker.settle([asked(claims[0]!)])

    expect((await worker.settle([asked(claims[1]!)])).results).toEqual(['parked'])

    await worker.settleAndFree(completed(claims[0]!))
    const [next] = await worker.take()
    expect(next).toMatchObject({ runId: runs[1]!.id })
    expect((await worker.settle([asked(next!)])).results).toEqual(['settled'])
  },

  'a run that does not wait is cancelled with its cause before anything of it has run': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await worker.settle([enters(claims[0]!, OR_CANCEL)])

    const { results, runs: changed } = await worker.settle([enters(claims[1]!, OR_CANCEL)])

    expect(results).toEqual([{ full: OR_CANCEL }])
    expect(changed).toMatchObject([{ runId: runs[1]!.id, status: 'compensating' }])
    await given.undo(runs[1]!)
    expect(await runs[1]!.record()).toMatchObject({ status: 'cancelled', cause: OR_CANCEL.ifFull })
    expect(await runs[1]!.step('a')).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect(await runs[0]!.status()).toBe('running')
    expect((await worker.settle([enters(claims[1]!, OR_CANCEL)])).results).toEqual(['parked'])
  },

  'all steps of a run that finds no slot are left, also those that ask once a slot is free': async (
    given,
  ) => {
    await given.adapter.declareLimits([{ name: LIMIT, concurrency: 1 }])
    const graph = await given.graph('loose', { a: [], b: [] })
    const [first, second] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    const held = await worker.claimsOf(first, 'a', 'b')
    const [a, b] = await worker.claimsOf(second, 'a', 'b')
    await worker.settle(held.map((claim) => enters(claim, OR_CANCEL)))
    await worker.settle([enters(a!, OR_CANCEL)])
    await worker.settleAndFree(...held.map((claim) => completed(claim)))

    const { results } = await worker.settle([enters(b!, OR_CANCEL)])

    expect(results).toEqual([{ full: OR_CANCEL }])
    expect(await given.adapter.readLimits([LIMIT])).toMatchObject([{ inUse: 0, waiting: 0 }])
    await given.undo(second)
    expect(await second.status()).toBe('cancelled')
  },

  'a run of which a step has completed waits: it began before it had the limit': async (given) => {
    await given.adapter.declareLimits([{ name: LIMIT, concurrency: 1 }])
    const graph = await given.graph('pair', { a: [], b: ['a'] })
    const [first, second] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.complete(second, 'a')
    const holder = await worker.claimOf(first, 'a')
    await worker.settle([enters(holder, OR_CANCEL)])

    const b = await worker.claimOf(second, 'b')
    expect((await worker.settle([enters(b, OR_CANCEL)])).results).toEqual(['parked'])

    expect(await given.adapter.readLimitWaits(second.id)).toMatchObject([{ limit: LIMIT, place: 1 }])
    expect(await second.status()).toBe('running')
  },

  'a limit that is set to 0 skips every step that does not wait, and lets the others wait': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await given.adapter.setLimit({ name: LIMIT, concurrency: 0 })

    const { results } = await worker.settle([enters(claims[0]!, OR_SKIP), enters(claims[1]!, entry(LIMIT))])

    expect(results).toEqual([{ full: OR_SKIP }, 'parked'])
    await given.adapter.setLimit({ name: LIMIT, concurrency: null })
    await given.adapter.tendLimits({ after: null, limit: 100 })
    await finish(given, worker, runs)
  },

  'runs are found by the limit and key that a step of theirs waits for': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 4 })
    await given.adapter.declareLimits([{ name: 'narrow', concurrency: 1 }])
    const [holder, first, second, other] = claims as [Claim, Claim, Claim, Claim]
    await worker.settle([enters(holder, entry(LIMIT, 'a'), entry('narrow'))])
    await worker.settle([enters(first, entry(LIMIT, 'a')), enters(second, entry(LIMIT, 'a'))])
    await worker.settle([enters(other, entry('narrow'))])
    const found = async (waitingFor: { limit: string; key?: string }, filter: object = {}) =>
      (await given.adapter.listRuns({ waitingFor, limit: 10, ...filter })).map(({ runId }) => runId)
    const waiting = [runs[1]!.id, runs[2]!.id].sort().reverse()

    expect(await found({ limit: LIMIT })).toEqual(waiting)
    expect(await found({ limit: LIMIT, key: 'a' })).toEqual(waiting)
    expect(await found({ limit: LIMIT, key: 'b' })).toEqual([])
    expect(await found({ limit: LIMIT, key: '' })).toEqual([])
    expect(await found({ limit: 'narrow', key: '' })).toEqual([runs[3]!.id])
    expect(await found({ limit: 'unknown' })).toEqual([])
    expect(await found({ limit: LIMIT }, { limit: 1 })).toEqual([waiting[0]])
    expect(await found({ limit: LIMIT }, { before: waiting[0]! })).toEqual([waiting[1]])
    expect(await found({ limit: LIMIT }, { workflow: ['no such workflow'] })).toEqual([])
    expect(await found({ limit: LIMIT }, { parentId: runs[0]!.id })).toEqual([])
    const counted = await given.adapter.countRuns({ waitingFor: { limit: LIMIT }, max: 10, byStatus: true })
    expect(counted).toMatchObject([{ count: 2 }])
    await given.cancel(runs[1]!)
    expect(await found({ limit: LIMIT })).toEqual([runs[2]!.id])
  },

  'runs that were given an instant of a rate still wait for it, until it has come': async (given) => {
    const { worker, claims, runs } = await started(given, { slots: 1, runs: 2 })
    await given.adapter.declareLimits([{ name: 'rate', concurrency: 1, rate: { perMs: 1_000, burst: 1 } }])
    await worker.settle(claims.map((claim) => enters(claim, entry('rate'))))
    const found = async () =>
      (await given.adapter.listRuns({ waitingFor: { limit: 'rate' }, limit: 10 })).map(({ runId }) => runId)

    expect(await found()).toEqual([runs[1]!.id])

    await given.advance(1_000)
    expect(await found()).toEqual([])
  },
}
