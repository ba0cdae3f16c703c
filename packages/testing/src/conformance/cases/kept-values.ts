import type { Claim, NewValue } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases, withSecond } from '../case.ts'
import { completed, KEYS_MAX, retry, told, toldBy } from '../scenario/index.ts'

/** Values in transactions, in other versions, of pruned runs, and as watchers see them. */
export const keptValueCases: Cases = {
  'values in a transaction of a step are there once it commits, and not if it rolls back': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    const transact = (values: readonly NewValue[], commits: boolean, keysMax = KEYS_MAX) =>
      given.adapter.transact({
        workerId: worker.id,
        isolation: 'read committed',
        work: async () =>
          commits
            ? {
                outcome: { ...completed(claim), type: 'completed', output: '1' },
                handBackMax: 0,
                told: { values, keysMax },
              }
            : null,
      })

    await transact([told(claim, 'k', '1')], false)
    expect(await toldBy(run)).toEqual([])
    const refused = await transact([told(claim, 'k', '1'), told(claim, 'l', '2')], true, 1)
    expect(refused).toEqual({ type: 'unpublished', results: ['stored', 'too_many'] })
    expect(await toldBy(run)).toEqual([])
    expect((await run.step('a')).status).toBe('running')

    expect((await transact([told(claim, 'k', '1')], true)).type).toBe('settled')
    expect(await toldBy(run)).toEqual(['k of a: 1'])
    expect((await transact([told(claim, 'k', '2', { sequence: 2 })], true)).type).toBe('lost')
    expect(await toldBy(run)).toEqual(['k of a: 1'])
  },

  'values move with their steps to another version, and a later attempt still replaces them': async (
    given,
  ) => {
    const graph = await given.graph('moving', { a: [], b: ['a'] })
    const next = await given.graph('moving', { z: [], a: [], b: ['a'] }, 2)
    const run = await given.start(graph)
    const worker = await given.worker()
    const publish = async (claim: Claim, value: string) =>
      given.adapter.publish({
        workerId: worker.id,
        values: [told(claim, 'k', value), told(claim, null, `{"done":${value}}`)],
        keysMax: KEYS_MAX,
      })
    const old = await worker.claimOf(run, 'a')
    await publish(old, '1')
    await worker.settle([retry(old, 0)])
    const workflow = { name: 'moving', version: 2, record: next.saved }
    await given.operator().migrateRun(run.id, workflow as never)

    expect(await toldBy(run)).toEqual(['progress of a: {"done":1}', 'k of a: 1'])
    const claims = await worker.take()
    await publish(claims.find(({ step }) => step === 1)!, '2')
    expect(await toldBy(run)).toEqual(['progress of a: {"done":2}', 'k of a: 2'])
  },

  'a value of a step that an open transaction has locked is left for later, and waits for nobody':
    besideTransaction(async (given) => {
      const [held, free] = [await given.loose(1), await given.loose(1)]
      const worker = await given.worker()
      const values = [
        told(await worker.claimOf(held, 's0'), 'k', '1'),
        told(await worker.claimOf(free, 's0'), 'k', '2'),
      ]
      const publish = () => given.adapter.publish({ workerId: worker.id, values, keysMax: KEYS_MAX })

      await given.harness.transaction(async (tx) => {
        await given.operate(held).pause({ tx })
        expect(await publish()).toEqual(['busy', 'stored'])
      })

      expect(await toldBy(held)).toEqual([])
      expect(await publish()).toEqual(['stored', 'stored'])
      expect(await toldBy(held)).toEqual(['k of s0: 1'])
    }),

  'a pruned run leaves no values': async (given) => {
    const run = await given.loose(1)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 's0')
    await given.adapter.publish({ workerId: worker.id, values: [told(claim, 'k', '1')], keysMax: 3 })
    await worker.complete(run, 's0')
    await given.advance(10)
    const finishedBefore = (await given.adapter.now()) + 1_000

    expect(await given.adapter.prune({ runIds: [run.id], finishedBefore })).toEqual([run.id])

    expect(await given.adapter.readValues(run.id)).toBeNull()
    expect(await given.adapter.observeRuns([run.id])).toEqual([])
  },

  'what watchers observe changes with the status, the steps and the values, and only then': withSecond(
    async (given, second) => {
      const run = await given.loose(2)
      const other = await given.loose(1)
      const observe = async () => (await second.observeRuns([run.id, run.id, given.ids.runId()]))[0]!
      const worker = await given.worker()
      const before = await observe()
      expect(before).toMatchObject({ runId: run.id, status: 'running', values: '' })
      expect(await observe()).toEqual(before)

      const [claim] = await worker.claimsOf(run, 's0', 's1')
      const claimed = await observe()
      expect(claimed.steps).not.toBe(before.steps)
      await worker.complete(other, 's0')
      expect(await observe()).toEqual(claimed)

      const publish = (sequence: number) =>
        given.adapter.publish({
          workerId: worker.id,
          values: [told(claim!, 'k', '1', { sequence })],
          keysMax: 3,
        })
      await publish(1)
      const published = await observe()
      expect(published).toEqual({ ...claimed, values: expect.any(String) })
      expect(published.values).not.toBe('')
      await publish(1)
      expect(await observe()).toEqual(published)
      await publish(2)
      expect((await observe()).values).not.toBe(published.values)

      await worker.complete(run, 's0', 's1')
      expect((await observe()).status).toBe('completed')
    },
  ),
}
