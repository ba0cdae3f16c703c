import type { FoundSchedule } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases, withSecond } from '../case.ts'
import { firing, names, newRun, put, putting, record } from '../scenario/schedule.ts'

/** Changes of schedules that meet. */
export const scheduleRaceCases: Cases = {
  'two processes that fire at once see each other’s change': withSecond(async (given, second) => {
    const graph = await given.graph('w', { a: [] })
    await put(given, 's')
    const adapters = [given.adapter, second, given.adapter, second]
    const changed = await Promise.all(
      adapters.map((adapter) =>
        adapter.changeSchedules({
          names: ['s'],
          decide: (found) => {
            if (found.schedule!.firings > 0) return { change: null, answer: 'late' }
            return { change: firing(found, newRun(given, graph, 'k')), answer: 'fired' }
          },
        }),
      ),
    )
    const answers = changed.map((each) => each.answers[0]!.answer)
    expect(answers.sort()).toEqual(['fired', 'late', 'late', 'late'])
  }),

  'two processes that make one schedule at once make it once': withSecond(async (given, second) => {
    const both = await Promise.all(
      [given.adapter, second].map((adapter) =>
        adapter.changeSchedules({
          names: ['s'],
          decide: ({ schedule }) => ({
            change:
              schedule === null ? { schedule: record('s'), firings: [], starts: [], cancels: [] } : null,
            answer: schedule === null,
          }),
        }),
      ),
    )
    expect(both.map(({ answers }) => answers[0]!.answer).sort()).toEqual([false, true])
  }),

  'changes in a transaction happen when it commits, or never': async (given) => {
    const graph = await given.graph('w', { a: [] })
    const run = newRun(given, graph, 'k1')
    const work = (fail: boolean) =>
      given.harness.transaction(async (tx) => {
        const options = { tx }
        await given.adapter.changeSchedules(
          { names: ['s'], decide: () => ({ change: putting('s'), answer: 0 }) },
          options,
        )
        const fired = await given.adapter.changeSchedules(
          {
            names: ['s'],
            decide: (found) => ({ change: firing(found, run), answer: found.schedule?.revision }),
          },
          options,
        )
        expect(fired.answers).toEqual([{ name: 's', answer: 1 }])
        expect(fired.started).toMatchObject([{ created: true }])
        if (fail) throw new Error('rolled back')
      })
    await expect(work(true)).rejects.toThrow('rolled back')
    expect(await names(given, { limit: 10 })).toEqual([])
    expect(await given.adapter.readRun(run.runId)).toBeNull()

    await work(false)

    expect(await names(given, { limit: 10 })).toEqual(['s'])
    expect(await given.adapter.readFirings({ name: 's', limit: 10 })).toMatchObject([{ runId: run.runId }])
    expect((await given.adapter.readRun(run.runId))?.run.status).toBe('running')
  },

  'a schedule that an open transaction has changed is left out, or waited for': besideTransaction(
    async (given) => {
      await put(given, 's')
      await put(given, 't')
      const decide = ({ schedule }: FoundSchedule) => ({
        change: null,
        answer: schedule?.pauseReason ?? null,
      })
      let waiting: Promise<unknown> = Promise.resolve()
      await given.harness.transaction(async (tx) => {
        await given.adapter.changeSchedules(
          {
            names: ['s'],
            decide: ({ schedule }) => ({
              change: { ...putting('s'), schedule: { ...schedule!, pauseReason: 'mine' } },
              answer: null,
            }),
          },
          { tx },
        )
        const free = await given.adapter.changeSchedules({
          names: ['s', 't', 'none'],
          skipLocked: true,
          decide,
        })
        expect(free.answers.map(({ name }) => name)).toEqual(['t'])
        waiting = given.adapter.changeSchedules({ names: ['s'], decide })
      })
      expect(await waiting).toMatchObject({ answers: [{ name: 's', answer: 'mine' }] })
    },
  ),
}
