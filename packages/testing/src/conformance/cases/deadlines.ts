import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed, PAIR, type Scenario, waiting } from '../scenario/index.ts'

export const deadlineCases: Cases = {
  'a run whose deadline passes is stopped, with the deadline as its cause': async (given) => {
    const run = await givenDeadline(given, 5_000)
    const { deadlineAt } = await run.record()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.advance(4_999)
    expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])
    await given.advance(1)

    expect(await given.adapter.expireRuns({ limit: 10 })).toMatchObject([{ runId: run.id }])

    const record = await run.record()
    expect(record).toMatchObject({ status: 'compensating', finishedAt: null })
    expect(JSON.parse(record.cause!)).toEqual({
      type: 'deadline',
      deadlineAt: new Date(Math.round(deadlineAt!)).toISOString(),
    })
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'cancelled' })
    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'failure' }])
  },

  'steps in flight at the deadline are drained and undone': async (given) => {
    const run = await givenDeadline(given, 1_000)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.advance(1_000)
    await given.adapter.expireRuns({ limit: 10 })
    expect(await given.adapter.stopping({ runIds: [run.id] })).toEqual([run.id])
    expect(await given.drain()).toEqual([])
    await worker.settle([completed(claim)], 10)
    await given.undo(run)
    await worker.compensate(run, 'a')
    expect(await run.status()).toBe('compensated')
  },

  'a waiting run is stopped too, and its signal comes too late': async (given) => {
    const run = await givenDeadline(given, 1_000)
    const worker = await given.worker()
    await worker.settle([waiting(await worker.claimOf(run, 'a'), null)])
    await given.advance(1_000)
    await given.adapter.expireRuns({ limit: 10 })
    expect(await run.statuses()).toEqual({ a: 'cancelled', b: 'cancelled' })
    expect(await given.signal(run, 'a')).toMatchObject({ result: 'ignored', reason: 'run_over' })
  },

  'a deadline counts from the start time': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = await given.start(graph, { startDelayMs: 5_000, deadlineMs: 1_000 })
    await given.advance(5_999)
    expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])
    await given.advance(1)
    expect(await given.adapter.expireRuns({ limit: 10 })).toMatchObject([{ runId: run.id }])
  },

  'a run that has ended or is stopped is left alone': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [done, cancelled] = [
      await given.start(graph, { deadlineMs: 1_000 }),
      await given.start(graph, { deadlineMs: 1_000 }),
    ]
    const worker = await given.worker()
    await worker.complete(done, 'a')
    await given.cancel(cancelled)
    await given.advance(2_000)
    const before = await given.snapshot()
    expect(await given.adapter.expireRuns({ limit: 10 })).toEqual([])
    expect(await given.snapshot()).toEqual(before)
    expect((await given.adapter.upcoming({ definitionIds: [] })).deadlineInMs).toBeNull()
  },

  'the longest overdue runs are stopped first, up to the limit': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [second, first, third] = [
      await given.start(graph, { deadlineMs: 2_000 }),
      await given.start(graph, { deadlineMs: 1_000 }),
      await given.start(graph, { deadlineMs: 3_000 }),
    ]
    await given.advance(5_000)
    const expired = await given.adapter.expireRuns({ limit: 2 })
    expect(expired.map(({ runId }) => runId).sort()).toEqual([second.id, first.id].sort())
    expect(await given.adapter.expireRuns({ limit: 2 })).toMatchObject([{ runId: third.id }])
  },

  'upcoming returns when the next deadline of any definition passes, or how long ago one passed': async (
    given,
  ) => {
    const upcoming = async () => (await given.adapter.upcoming({ definitionIds: [] })).deadlineInMs
    expect(await upcoming()).toBeNull()
    await givenDeadline(given, 5_000)
    await givenDeadline(given, 3_000)
    expect(await upcoming()).toBeCloseTo(3_000, 0)
    await given.advance(4_000)
    expect(await upcoming()).toBeCloseTo(-1_000, 0)
    await given.adapter.expireRuns({ limit: 10 })
    expect(await upcoming()).toBeCloseTo(1_000, 0)
  },

  'when two processes look at once, each run is stopped by one of them': withSecond(async (given, second) => {
    const runs = [await givenDeadline(given, 1_000), await givenDeadline(given, 1_000)]
    await given.advance(1_000)
    const expired = await Promise.all(
      [given.adapter, second, given.adapter].map((adapter) => adapter.expireRuns({ limit: 10 })),
    )
    const expiredIds = expired.flat().map(({ runId }) => runId)
    expect(expiredIds.sort()).toEqual(runs.map(({ id }) => id).sort())
  }),
}

async function givenDeadline(given: Scenario, deadlineMs: number) {
  return given.start(await given.graph('pair', PAIR), { deadlineMs })
}
