import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { DIAMOND, PAIR } from '../scenario/index.ts'

export const startTimeCases: Cases = {
  'a run with a delay is scheduled, and begins when the delay has passed': async (given) => {
    const run = await given.start(await given.graph('pair', PAIR), { startDelayMs: 5_000 })
    const worker = await given.worker()

    expect(await run.status()).toBe('scheduled')
    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)

    expect(await run.status()).toBe('running')
    expect(await worker.take()).toMatchObject([{ runId: run.id, step: 0, fence: 1 }])
  },

  'a run with a start time begins then, all its first steps at once': async (given) => {
    const startAt = (await given.adapter.now()) + 5_000
    const run = await given.start(await given.graph('loose', { a: [], b: [], c: ['a'] }), { startAt })
    const worker = await given.worker()
    expect((await run.record()).startAt).toBeCloseTo(startAt, 0)
    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)
    expect(await worker.take()).toHaveLength(2)
  },

  'a start time in the past counts as now': async (given) => {
    const now = await given.adapter.now()
    const graph = await given.graph('diamond', DIAMOND)
    const run = await given.start(graph, { startAt: now - 60_000, deadlineMs: 1_000 })
    expect(await run.status()).toBe('running')
    expect((await run.record()).startAt).toBeCloseTo(now, 0)
    expect((await run.record()).deadlineAt).toBeCloseTo(now + 1_000, 0)
    expect(await (await given.worker()).take()).toHaveLength(1)
  },

  'a run without a start time has none': async (given) => {
    const run = await given.pair()
    expect(await run.record()).toMatchObject({ startAt: null, deadlineAt: null, status: 'running' })
    expect((await run.step('a')).availableAt).toBeNull()
  },

  'a scheduled run can be cancelled, and never begins': async (given) => {
    const run = await given.start(await given.graph('pair', PAIR), { startDelayMs: 1_000 })
    const worker = await given.worker()
    expect(await given.cancel(run)).toEqual([run.id])
    await given.advance(1_000)
    expect(await worker.take()).toEqual([])
    expect(await given.drain()).toMatchObject([{ runId: run.id }])
  },

  'a signal for a run that has not begun is kept': async (given) => {
    const run = await given.start(await given.graph('pair', PAIR), { startDelayMs: 1_000 })
    expect(await given.signal(run, 'a')).toEqual({ result: 'kept' })
    expect(await run.status()).toBe('scheduled')
  },

  'the first steps of a scheduled run are upcoming': async (given) => {
    const graph = await given.graph('pair', PAIR)
    await given.start(graph, { startDelayMs: 7_000 })
    const { claimInMs } = await given.adapter.upcoming({ definitionIds: [graph.id] })
    expect(claimInMs).toBeCloseTo(7_000, 0)
  },

  'runs are listed by the status with which they are shown': async (given) => {
    const graph = await given.graph('loose', { a: [], b: ['a'] })
    const [scheduled, waits, running, ended] = [
      await given.start(graph, { startDelayMs: 9_000 }),
      await given.start(graph),
      await given.start(graph),
      await given.start(graph),
    ]
    const worker = await given.worker()
    const claims = await worker.take()
    const claimOf = (run: typeof waits) => claims.find(({ runId }) => runId === run.id)!
    await worker.settle([{ ...claimOf(waits), type: 'waiting', wake: null }])
    await worker.complete(ended, 'a')
    await worker.complete(ended, 'b')
    const list = async (...status: NonNullable<Parameters<typeof given.adapter.listRuns>[0]['status']>) =>
      (await given.adapter.listRuns({ status, limit: 10 })).map((run) => [run.runId, run.status])

    expect(await list('scheduled')).toEqual([[scheduled.id, 'scheduled']])
    expect(await list('waiting')).toEqual([[waits.id, 'waiting']])
    expect(await list('running')).toEqual([[running.id, 'running']])
    expect(await list('completed')).toEqual([[ended.id, 'completed']])
    expect(await list('waiting', 'scheduled', 'completed')).toEqual([
      [ended.id, 'completed'],
      [waits.id, 'waiting'],
      [scheduled.id, 'scheduled'],
    ])
    expect(await list('paused', 'cancelled')).toEqual([])
  },
}
