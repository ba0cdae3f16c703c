import { FIRINGS_KEPT } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { change, fire, look, names, newRun, put, SPEC, worker } from '../scenario/schedule.ts'

const HOUR = 3_600_000

export const scheduleCases: Cases = {
  'a schedule is stored as it was given, and read by name, by page and once it is due': async (given) => {
    const now = await given.adapter.now()
    const spec = { ...SPEC, until: Math.round(now) + HOUR, tags: ['a'], declared: true }
    await put(given, 'one', {
      spec,
      input: '{"text":"\\"ü\\""}',
      nextAt: Math.round(now) + 5_000,
      dueAt: Math.round(now) + 5_000,
    })
    await put(given, 'two', { pauseReason: 'why', pausedAt: Math.round(now) })
    await put(given, 'Three', {})

    const { schedules } = await given.adapter.readSchedules({ limit: 10 })
    expect(schedules.map(({ name }) => name)).toEqual(['Three', 'one', 'two'])
    expect(schedules[1]).toMatchObject({
      spec,
      input: '{"text":"\\"ü\\""}',
      nextAt: Math.round(now) + 5_000,
      revision: 1,
    })
    expect(await names(given, { after: 'Three', limit: 1 })).toEqual(['one'])
    expect(await names(given, { names: ['two', 'none', 'one'], limit: 10 })).toEqual(['one', 'two'])
    expect(await names(given, { paused: true, limit: 10 })).toEqual(['two'])
    expect(await names(given, { declared: true, paused: false, limit: 10 })).toEqual(['one'])
    expect(await names(given, { workflow: 'w', after: 'one', limit: 10 })).toEqual(['two'])
    expect(await names(given, { workflow: 'other', limit: 10 })).toEqual([])
    expect(await names(given, { due: true, limit: 10 })).toEqual([])

    expect((await given.adapter.upcoming({ definitionIds: [] })).scheduleInMs).toBeCloseTo(5_000, -2)
    await given.advance(6_000)
    expect((await given.adapter.upcoming({ definitionIds: [] })).scheduleInMs).toBeLessThan(-900)
    expect(await names(given, { due: true, limit: 10 })).toEqual(['one'])
  },

  'a change commits with the runs that it starts and the firings that it records': async (given) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const run = newRun(given, graph, 'k1')

    const { started } = await fire(given, 's', run)

    expect(started).toMatchObject([{ runId: run.runId, created: true }])
    expect((await given.adapter.readRun(run.runId))?.run).toMatchObject({ key: 'k1', status: 'running' })
    expect(await given.adapter.readFirings({ name: 's', limit: 10 })).toMatchObject([
      {
        sequence: 1,
        status: 'started',
        runId: run.runId,
        cause: 'time',
        scheduledAt: 1_000,
        untilAt: null,
        reason: null,
      },
    ])
    expect(await worker(given, graph)).toHaveLength(1)
  },

  'a firing whose key is taken gets the run that has the key': async (given) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const first = newRun(given, graph, 'same')
    await fire(given, 's', first)

    const { started } = await fire(given, 's', newRun(given, graph, 'same'))

    expect(started).toMatchObject([{ runId: first.runId, created: false }])
    const firings = await given.adapter.readFirings({ name: 's', limit: 10 })
    expect(firings.map(({ runId }) => runId)).toEqual([first.runId, first.runId])
  },

  'a decision that throws writes nothing': async (given) => {
    await put(given, 's')
    const change = given.adapter.changeSchedules({
      names: ['s', 't'],
      decide: ({ name }) => {
        if (name === 't') throw new Error('no')
        return { change: { schedule: null, firings: [], starts: [], cancels: [] }, answer: null }
      },
    })
    await expect(change).rejects.toThrow('no')
    expect(await names(given, { limit: 10 })).toEqual(['s'])
  },

  'open firings are told with the present status of their runs, until a change closes them': async (
    given,
  ) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const run = newRun(given, graph, 'k1')
    await fire(given, 's', run)
    expect((await look(given, 's')).open).toMatchObject([{ sequence: 1, runStatus: 'running' }])

    const [claim] = await worker(given, graph)
    await claim!.settle()
    const found = await look(given, 's')
    expect(found.open).toMatchObject([{ runStatus: 'completed' }])
    const { runStatus: _, ...firing } = found.open[0]!
    await change(given, 's', {
      schedule: found.schedule,
      firings: [{ ...firing, isOpen: false }],
      starts: [],
      cancels: [],
    })

    expect((await look(given, 's')).open).toEqual([])
    expect(await given.adapter.readFirings({ name: 's', limit: 1 })).toMatchObject([{ runId: run.runId }])
  },

  'a run that a firing cancels is stopped in the same commit': async (given) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const first = newRun(given, graph, 'k1')
    await fire(given, 's', first)

    const { cancelled } = await fire(given, 's', newRun(given, graph, 'k2'), [first.runId])

    expect(cancelled).toMatchObject([{ runId: first.runId, status: 'compensating' }])
    const read = await given.adapter.readRun(first.runId)
    expect(read!.run.cause).toContain('took its place')
    expect(await given.adapter.readHistory({ runId: first.runId, limit: 1 })).toMatchObject([
      { action: 'cancel' },
    ])
  },

  'only the newest firings are kept, and those that are open': async (given) => {
    await put(given, 's')
    const one = { scheduledAt: 1, untilAt: null, decidedAt: 1, cause: 'time', runId: null } as const
    const queued = { ...one, sequence: 1, status: 'queued', reason: 'waits', isOpen: true } as const
    const others = Array.from({ length: FIRINGS_KEPT + 5 }, (_, at) => {
      return { ...one, sequence: at + 2, status: 'skipped', reason: 'busy', isOpen: false } as const
    })
    const { schedule } = await look(given, 's')
    const firings = FIRINGS_KEPT + 6
    await change(given, 's', {
      schedule: { ...schedule!, firings },
      firings: [queued, ...others],
      starts: [],
      cancels: [],
    })

    const kept = await given.adapter.readFirings({ name: 's', limit: 1_000 })
    expect(kept.map(({ sequence }) => sequence)).toEqual([
      ...Array.from({ length: FIRINGS_KEPT }, (_, at) => firings - at),
      1,
    ])
    expect(await given.adapter.readFirings({ name: 's', queued: true, limit: 5 })).toMatchObject([
      { sequence: 1 },
    ])
    expect(await given.adapter.readFirings({ name: 's', before: 9, limit: 2 })).toMatchObject([
      { sequence: 8 },
      { sequence: 7 },
    ])
    const found = await look(given, 's')
    await change(given, 's', {
      schedule: found.schedule,
      firings: [{ ...queued, status: 'skipped', isOpen: false }],
      starts: [],
      cancels: [],
    })
    expect(await given.adapter.readFirings({ name: 's', limit: 1_000 })).toHaveLength(FIRINGS_KEPT)
  },

  'a schedule is deleted with its firings; its runs stay': async (given) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const run = newRun(given, graph, 'k1')
    await fire(given, 's', run)

    await change(given, 's', { schedule: null, firings: [], starts: [], cancels: [] })

    expect(await names(given, { limit: 10 })).toEqual([])
    expect(await given.adapter.readFirings({ name: 's', limit: 10 })).toEqual([])
    expect(await given.adapter.readRun(run.runId)).not.toBeNull()
    await put(given, 's')
    expect((await look(given, 's')).schedule).toMatchObject({ revision: 1, firings: 0 })
  },
}
