import type { CallerTransaction } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import { completed, PAIR } from '../scenario/index.ts'

/** Actions on runs inside a caller's transaction. */
export const controlWithinCases: Cases = {
  'a run that is paused in a transaction is paused when that commits': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()

    await given.harness.transaction(async (tx) => {
      expect(await given.operate(run).pause({ tx, by: 'ann' })).toBe(true)
      expect(await given.operate(run).pause({ tx })).toBe(false)
    })

    expect(await run.status()).toBe('paused')
    expect(await worker.take()).toEqual([])
    expect(await given.operate(run).history()).toMatchObject([{ action: 'pause', by: 'ann' }])
  },

  'a run that is resumed in a transaction continues when that commits': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    await given.operate(run).pause()
    expect(await worker.take()).toEqual([])

    await given.harness.transaction((tx) => given.operate(run).resume({ tx }))

    expect(await run.status()).toBe('running')
    expect(await worker.take()).toHaveLength(2)
  },

  'a run that is cancelled in a transaction is undone when that commits': async (given) => {
    const run = await given.diamond()
    const worker = await given.worker()
    await worker.complete(run, 'a')

    await given.harness.transaction(async (tx) => {
      expect(await given.operate(run).cancel({ tx, reason: 'changed my mind' })).toBe(true)
      expect(await given.operate(run).cancel({ tx })).toBe(false)
    })

    expect(await run.record()).toMatchObject({
      status: 'compensating',
      cause: expect.stringMatching(/changed my mind/),
    })
    expect(await run.statuses()).toMatchObject({ a: 'completed', b: 'cancelled', d: 'cancelled' })
    expect(await given.operate(run).history()).toMatchObject([
      { action: 'cancel', reason: 'changed my mind', change: { compensate: true } },
    ])
    expect(await given.drain()).toMatchObject([{ runId: run.id, stop: 'cancellation' }])
    await given.undo(run)
    await worker.compensate(run, 'a')
    expect(await run.status()).toBe('cancelled')
  },

  'an action in a transaction that is rolled back never happened': async (given) => {
    const run = await given.pair()
    const before = await given.snapshot()

    const end = given.harness.transaction(async (tx) => {
      await given.operate(run).pause({ tx })
      await given.operate(run).cancel({ tx, compensate: false })
      throw new Error('changed my mind')
    })

    await expect(end).rejects.toThrow('changed my mind')
    expect(await given.snapshot()).toEqual(before)
    expect(await given.operate(run).history()).toEqual([])
    expect(await given.operate(run).pause()).toBe(true)
  },

  'an action that is refused in a transaction leaves the rest of the transaction intact': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [ended, going] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.settle([completed(await worker.claimOf(ended, 'a'))])

    await given.harness.transaction(async (tx) => {
      await expect(given.operate(ended).pause({ tx })).rejects.toMatchObject({ code: 'action_refused' })
      expect(await given.operate(going).pause({ tx })).toBe(true)
    })

    expect([await ended.status(), await going.status()]).toEqual(['completed', 'paused'])
  },

  'a run that is started in a transaction can be paused in it': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runId = given.ids.runId()
    const engine = given.operator()

    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns(
        [{ runId, definitionId: graph.id, workflow: 'pair', key: null, input: null }],
        { tx },
      )
      expect(await engine.runs.handle(runId).pause({ tx })).toBe(true)
    })

    expect((await given.adapter.readRun(runId))?.run.status).toBe('paused')
    expect(await (await given.worker()).take()).toEqual([])
  },

  'a pause in an open transaction is invisible to others, and locks the run': besideTransaction(
    async (given) => {
      const run = await given.pair()
      const told: string[] = []
      let waiting: Promise<unknown> = Promise.resolve()

      await given.harness.transaction(async (tx) => {
        await given.operate(run).pause({ tx })
        expect(await run.status()).toBe('running')
        waiting = given
          .operate(run)
          .resume()
          .then((resumed) => told.push(`resumed: ${resumed}`))
        told.push('still open')
      })
      await waiting

      expect(told).toEqual(['still open', 'resumed: true'])
      expect(await run.status()).toBe('running')
    },
  ),

  'a tx that is not an open transaction of the store is refused': async (given) => {
    const run = await given.pair()

    for (const wrong of [{}, null]) {
      const tx = wrong as CallerTransaction
      await expect(given.operate(run).pause({ tx })).rejects.toMatchObject({ code: 'invalid_option' })
      await expect(given.operate(run).cancel({ tx })).rejects.toMatchObject({ code: 'invalid_option' })
    }

    expect(await run.status()).toBe('running')
  },
}
