import type { CallerTransaction } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import { CaseRun, PAIR } from '../scenario/index.ts'
import { BATCH, DEBOUNCE, inputOf, newCall } from './collecting.ts'

/** Calls that are collected inside a caller's transaction. */
export const collectingWithinCases: Cases = {
  'calls in a transaction join one run, which exists when it commits': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const calls = ['1', '2', '3'].map((input) => newCall(given, graph, DEBOUNCE, { input }))
    const collect = async (tx: CallerTransaction) => [
      await given.adapter.collectCalls(calls.slice(0, 1), { tx }),
      await given.adapter.collectCalls(calls.slice(1), { tx }),
      await given.adapter.collectCalls(calls.slice(0, 1), { tx }),
      await given.adapter.collectCalls([], { tx }),
    ]

    const [opened, joined, repeated, none] = await given.harness.transaction(collect)

    const { runId } = calls[0]!
    expect(opened).toMatchObject([{ runId, created: true, position: 1 }])
    expect(joined).toMatchObject([
      { runId, created: false, position: 2 },
      { runId, position: 3 },
    ])
    expect(repeated).toMatchObject([{ runId, created: false, repeated: true, position: 1 }])
    expect(none).toEqual([])
    expect(await inputOf(given, { runId })).toBe('3')
    expect(await given.adapter.readCollected(runId)).toEqual({ key: 'k', calls: 3, collecting: true })
  },

  'a call in a transaction that is rolled back leaves no trace in the run that it joined': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [first, second, third] = ['1', '2', '3'].map((input) => newCall(given, graph, BATCH, { input }))
    await given.adapter.collectCalls([first!])
    const before = await given.snapshot()

    const end = given.harness.transaction(async (tx) => {
      expect(await given.adapter.collectCalls([second!], { tx })).toMatchObject([{ position: 2 }])
      throw new Error('changed my mind')
    })

    await expect(end).rejects.toThrow('changed my mind')
    expect(await given.snapshot()).toEqual(before)
    expect(await given.adapter.collectCalls([third!, second!])).toMatchObject([
      { position: 2, repeated: false },
      { position: 3, repeated: false },
    ])
    expect(await inputOf(given, first!)).toBe('[1,3,2]')
  },

  'a run that a rolled back transaction opened does not exist, and the next call opens one': async (
    given,
  ) => {
    const graph = await given.graph('pair', PAIR)
    const [first, second] = [newCall(given, graph, DEBOUNCE), newCall(given, graph, DEBOUNCE)]
    const end = given.harness.transaction(async (tx) => {
      await given.adapter.collectCalls([first], { tx })
      throw new Error('changed my mind')
    })
    await expect(end).rejects.toThrow('changed my mind')

    expect(await given.adapter.readRun(first.runId)).toBeNull()
    expect(await given.adapter.collectCalls([second])).toMatchObject([{ created: true, position: 1 }])
  },

  'a transaction adds to a run that is there, and its begin moves with the commit': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const [first, second] = ['1', '2'].map((input) => newCall(given, graph, DEBOUNCE, { input }))
    await given.adapter.collectCalls([first!])
    await given.advance(4_000)
    await given.harness.transaction((tx) => given.adapter.collectCalls([second!], { tx }))
    const worker = await given.worker()

    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)
    expect(await worker.take()).toMatchObject([{ runId: first!.runId }])
    expect(await inputOf(given, first!)).toBe('2')
  },

  'a call waits for a transaction that has called with its key, and joins its run': besideTransaction(
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      const [inside, outside] = ['1', '2'].map((input) => newCall(given, graph, BATCH, { input }))
      let waiting: ReturnType<typeof given.adapter.collectCalls> | undefined

      await given.harness.transaction(async (tx) => {
        await given.adapter.collectCalls([inside!], { tx })
        waiting = given.adapter.collectCalls([outside!])
        await given.adapter.now({ tx })
      })

      expect(await waiting).toMatchObject([{ runId: inside!.runId, created: false, position: 2 }])
      expect(await inputOf(given, inside!)).toBe('[1,2]')
    },
  ),

  'calls with other keys wait for no transaction': besideTransaction(async (given) => {
    const graph = await given.graph('pair', PAIR)
    await given.harness.transaction(async (tx) => {
      await given.adapter.collectCalls([newCall(given, graph, BATCH, { collectKey: 'a' })], { tx })
      const other = newCall(given, graph, BATCH, { collectKey: 'b' })
      expect(await given.adapter.collectCalls([other])).toMatchObject([{ created: true }])
    })
  }),

  'a run that was opened in a transaction can be cancelled in it': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const call = newCall(given, graph, DEBOUNCE)
    await given.harness.transaction(async (tx) => {
      await given.adapter.collectCalls([call], { tx })
      await given.operate(new CaseRun(given.adapter, call.runId, graph)).cancel({ tx })
    })

    expect(await given.adapter.readCollected(call.runId)).toMatchObject({ collecting: false })
    expect(await given.adapter.collectCalls([newCall(given, graph, DEBOUNCE)])).toMatchObject([
      { created: true },
    ])
  },
}
