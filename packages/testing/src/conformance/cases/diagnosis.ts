import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { type CaseRun, completed, LEASE_MS, PAIR, parked, waiting } from '../scenario/index.ts'

const MINUTE_MS = 60_000

export const diagnosisCases: Cases = {
  'an empty store reports only what it is': async (given) => {
    const { now, store, ...rest } = await given.adapter.diagnose({
      overdueMs: MINUTE_MS,
      recentMs: MINUTE_MS,
    })

    expect(now).toBe(await given.adapter.now())
    expect(store).toMatchObject({ adapter: given.adapter.name })
    expect(rest).toEqual({
      workers: [],
      liveRuns: [],
      moreLiveRuns: false,
      overdueSteps: [],
      strandedSteps: [],
      unknownLeases: [],
      recentRuns: [],
    })
  },

  'live runs are counted by version and status; ended runs are not counted': async (given) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
    const oldest = await given.start(one)
    const oldestSince = await given.adapter.now()
    await given.advance(1_000)
    const runs = [oldest, await given.start(one), await given.start(one), await given.start(two)] as const
    const worker = await given.worker()
    await worker.complete(runs[1], 'a')
    await worker.settle([completed(await worker.claimOf(runs[1], 'b'))])
    await worker.claimsOf(runs[2], 'a')
    await given.cancel(runs[2])

    const { liveRuns } = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })

    const flow = { workflow: 'flow', runs: 1 }
    const since = { oldestSince: oldestSince + 1_000 }
    const sorted = [...liveRuns].sort((a, b) => a.version - b.version || (a.status < b.status ? -1 : 1))
    expect(sorted).toEqual([
      { ...flow, ...since, definitionId: one.id, version: 1, status: 'compensating', runIds: [runs[2].id] },
      { ...flow, oldestSince, definitionId: one.id, version: 1, status: 'running', runIds: [oldest.id] },
      { ...flow, ...since, definitionId: two.id, version: 2, status: 'running', runIds: [runs[3].id] },
    ])
  },

  'only a few of many runs are named, oldest first': async (given) => {
    const graph = await given.graph('flow', PAIR)
    const runIds: string[] = []
    for (let n = 0; n < 7; n += 1) runIds.push((await given.start(graph)).id)

    const { liveRuns } = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })

    expect(liveRuns).toMatchObject([{ runs: 7, runIds: runIds.slice(0, 5) }])
  },

  'a parked run counts as live': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.cancel(run)
    await given.undo(run)
    await worker.settle([parked(await worker.claimOf(run, 'a'))])

    const { liveRuns, strandedSteps } = await given.adapter.diagnose({
      overdueMs: MINUTE_MS,
      recentMs: MINUTE_MS,
    })

    expect(liveRuns).toMatchObject([{ status: 'compensation_failed', runs: 1, runIds: [run.id] }])
    expect(strandedSteps).toEqual([])
  },

  'overdue steps are counted by version': async (given) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
    await given.start(one)
    const oldestDueAt = await given.adapter.now()
    await given.start(one)
    await given.advance(MINUTE_MS + 1)
    await given.start(two)

    const { overdueSteps } = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })

    expect(overdueSteps).toEqual([
      { definitionId: one.id, workflow: 'flow', version: 1, steps: 2, oldestDueAt },
    ])
  },

  'a claimed step is not overdue, nor is one that waits for its retry': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [first] = await worker.claimsOf(run, 's0', 's1')
    await worker.settle([
      { ...first!, type: 'retry', error: '{"name":"Error","message":"no"}', delayMs: 10 * MINUTE_MS },
    ])
    await given.advance(2 * MINUTE_MS)

    expect(await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })).toMatchObject({
      overdueSteps: [],
      strandedSteps: [],
    })
  },

  'a live worker that holds steps it does not know of is reported after two leases': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    await worker.claimsOf(run, 's0', 's1', 's2')
    const { adapter } = given
    const unknownAfter = async (ms: number, known: number) => {
      await given.advance(ms)
      await adapter.renew({ workerId: worker.id, leaseMs: LEASE_MS, known })
      return (await adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })).unknownLeases
    }

    for (let renewal = 0; renewal < 2; renewal += 1) expect(await unknownAfter(LEASE_MS, 0)).toEqual([])
    expect(await unknownAfter(LEASE_MS / 2, 3)).toEqual([])
    expect(await unknownAfter(LEASE_MS / 2, 1)).toMatchObject([{ workerId: worker.id, held: 3, known: 1 }])
  },

  'recent starts, ends and failures are counted by version, with the step that failed most': async (
    given,
  ) => {
    const [one, two] = [await given.graph('flow', PAIR, 1), await given.graph('flow', PAIR, 2)]
    const worker = await given.worker()
    const recent = async () =>
      (await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })).recentRuns
    const fail = async (run: CaseRun, step: string) => {
      if (step === 'b') await worker.complete(run, 'a')
      await worker.fail(run, step)
      await given.undo(run)
      if (step === 'b') await worker.compensate(run, 'a')
      return run.id
    }
    await fail(await given.start(one), 'a')
    await given.advance(MINUTE_MS + 1)
    expect(await recent()).toEqual([])

    const early = [await fail(await given.start(one), 'a')]
    await given.advance(1_000)
    early.unshift(await fail(await given.start(one), 'a'))
    await given.advance(1_000)
    early.unshift(await fail(await given.start(one), 'b'))
    const done = await given.start(one)
    await worker.complete(done, 'a')
    await worker.complete(done, 'b')
    await given.start(two)

    const flow = { workflow: 'flow', failedStep: null, failedRunIds: [] }
    expect(await recent()).toMatchObject([
      {
        ...flow,
        definitionId: one.id,
        version: 1,
        started: 4,
        ended: 4,
        failed: 3,
        failedStep: 'step 0',
        failedRunIds: early,
      },
      { ...flow, definitionId: two.id, version: 2, started: 1, ended: 0, failed: 0 },
    ])
  },

  'a silent worker is reported until somebody sweeps': async (given) => {
    await given.pair()
    const worker = await given.worker()
    await worker.take()
    await given.expireLeases()

    const before = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })
    await given.sweep()
    const after = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })

    expect(before.workers).toMatchObject([{ workerId: worker.id, leaseExpiresAt: before.now - 1 }])
    expect(after.workers).toEqual([])
    expect(before.workers[0]?.renewedAt).toBe(before.now - LEASE_MS - 1)
  },

  'no step counts as stranded in the middle of a run, an undo or a retry, or after a sweep': async (
    given,
  ) => {
    const [run, undone] = [await given.diamond(), await given.pair()]
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await worker.claimsOf(run, 'b')
    await worker.complete(undone, 'a')
    await given.cancel(undone)
    await given.undo(undone)
    const stranded = async () =>
      (await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })).strandedSteps

    expect(await stranded()).toEqual([])
    await given.expireLeases()
    await given.sweep()
    expect(await stranded()).toEqual([])
    expect(
      (await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })).liveRuns,
    ).toHaveLength(2)
  },

  'a step is stranded that waits for a child which is gone, or has ended for long': async (given) => {
    const graph = await given.graph('parent', { a: [], b: [], c: [] }, 1, {
      a: 'child',
      b: 'child',
      c: 'signal',
    })
    const run = await given.start(graph)
    const worker = await given.worker()
    const claims = await worker.claimsOf(run, 'a', 'b', 'c')
    const single = await given.graph('single', { only: [] })
    const child = await given.start(single, { parent: { runId: run.id, step: graph.numberOf('a') } })
    const stranded = async () => {
      const { strandedSteps } = await given.adapter.diagnose({ overdueMs: MINUTE_MS, recentMs: MINUTE_MS })
      return strandedSteps.map(({ runId, name, fault }) => [runId, name, fault])
    }

    await worker.settle(claims.map((claim) => waiting(claim)))
    expect(await stranded()).toEqual([[run.id, 'b', 'childless']])
    await worker.complete(child, 'only')
    expect(await stranded()).toEqual([[run.id, 'b', 'childless']])
    await given.advance(MINUTE_MS + 1_000)
    expect((await stranded()).toSorted()).toEqual(['a', 'b'].map((step) => [run.id, step, 'childless']))
    await given.operate(run).pause()
    expect(await stranded()).toEqual([])
  },
}
