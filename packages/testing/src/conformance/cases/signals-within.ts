import type { Delivery, NewSignal } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import { type CaseRun, PAIR, received, type Scenario } from '../scenario/index.ts'
import { pairWaitingFor } from './waits.ts'

/** Signals sent inside a caller's transaction. */
export const signalWithinCases: Cases = {
  'a signal sent in a transaction arrives when it commits, and wakes its step': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)

    const delivery = await given.harness.transaction((tx) => send(given, run, { payload: '7' }, tx))

    expect(delivery).toEqual({ result: 'delivered' })
    expect(await run.step('a')).toMatchObject({ status: 'ready', output: '7' })
    const [claim] = await worker.take()
    await worker.settle([received(claim!)])
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '7' })
  },

  'a signal sent in a transaction that is rolled back never existed': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    const before = await given.snapshot()

    const end = given.harness.transaction(async (tx) => {
      await send(given, run, { key: 'k' }, tx)
      throw new Error('changed my mind')
    })

    await expect(end).rejects.toThrow('changed my mind')
    expect(await given.snapshot()).toEqual(before)
    expect(await given.signal(run, 'a', { key: 'k' })).toEqual({ result: 'delivered' })
  },

  'of two signals in one transaction, a repeated key is recorded once and another key not at all': async (
    given,
  ) => {
    const { run } = await pairWaitingFor(given, null)

    const deliveries = await given.harness.transaction(async (tx) => [
      await send(given, run, { key: 'one', payload: '1' }, tx),
      await send(given, run, { key: 'one', payload: '2' }, tx),
      await send(given, run, { key: 'two', payload: '2' }, tx),
    ])

    expect(deliveries).toEqual([
      { result: 'delivered' },
      { result: 'duplicate', recorded: '1' },
      { result: 'ignored', reason: 'signalled', recorded: '1' },
    ])
    expect(await run.step('a')).toMatchObject({ status: 'ready', output: '1' })
  },

  'a run started in a transaction can be found and signalled in it': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runId = given.ids.runId()
    const run = { runId, definitionId: graph.id, workflow: 'pair', key: 'k', input: null }

    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns([run], { tx })
      const found = {
        runId,
        definitionId: graph.id,
        workflow: 'pair',
        version: 1,
        tags: [],
        parent: null,
        deadlineAt: null,
      }
      expect(await given.adapter.findRun({ runId }, { tx })).toEqual(found)
      expect(await given.adapter.findRun({ workflow: 'pair', key: 'k' }, { tx })).toEqual(found)
      const signal = { runId, definitionId: graph.id, step: 1, key: 's', actor: null, payload: '1' }
      expect(await given.adapter.deliverSignals([signal], { tx })).toEqual([{ result: 'kept' }])
      expect(await given.adapter.now({ tx })).toBeGreaterThan(0)
    })

    const read = await given.adapter.readRun(runId)
    expect(read?.steps[1]).toMatchObject({ status: 'pending', output: '1' })
  },

  'a signal for an unknown run answers unknown, and a tx that is no transaction is refused': async (
    given,
  ) => {
    const { run } = await pairWaitingFor(given, null)
    const unknown = { ...signalFor(run, {}), runId: given.ids.runId() }

    await given.harness.transaction(async (tx) => {
      expect(await given.adapter.deliverSignals([unknown], { tx })).toEqual([{ result: 'unknown' }])
      expect(await given.adapter.deliverSignals([], { tx })).toEqual([])
    })

    for (const tx of [{}, 'begin', null]) {
      await expect(send(given, run, {}, tx)).rejects.toMatchObject({ code: 'invalid_option' })
      await expect(given.adapter.findRun({ runId: run.id }, { tx })).rejects.toMatchObject({
        code: 'invalid_option',
      })
    }
    expect((await run.step('a')).status).toBe('waiting')
  },

  'a signal waits for the open transaction of an earlier one, and then comes too late': besideTransaction(
    async (given) => {
      const { run } = await pairWaitingFor(given, null)
      let second: Promise<Delivery> | undefined

      await given.harness.transaction(async (tx) => {
        await send(given, run, { payload: '1' }, tx)
        expect((await run.step('a')).status).toBe('waiting')
        second = given.signal(run, 'a', { key: 'second', payload: '2' })
      })

      expect(await second).toEqual({ result: 'ignored', reason: 'signalled', recorded: '1' })
    },
  ),

  'a signal in a transaction that is rolled back leaves room for the next one': besideTransaction(
    async (given) => {
      const { run } = await pairWaitingFor(given, null)
      let second: Promise<Delivery> | undefined

      await given.harness
        .transaction(async (tx) => {
          await send(given, run, { payload: '1' }, tx)
          second = given.signal(run, 'a', { key: 'second', payload: '2' })
          throw new Error('rolled back')
        })
        .catch(() => {})

      expect(await second).toEqual({ result: 'delivered' })
      expect(await run.step('a')).toMatchObject({ status: 'ready', output: '2' })
    },
  ),
}

/** A signal for the first step. */
function signalFor(run: CaseRun, { key = 'signal', payload = 'null' }: Partial<NewSignal>): NewSignal {
  return { runId: run.id, definitionId: run.graph.id, step: 0, key, actor: null, payload }
}

async function send(
  given: Scenario,
  run: CaseRun,
  signal: Partial<NewSignal>,
  tx: unknown,
): Promise<Delivery> {
  const [delivery] = await given.adapter.deliverSignals([signalFor(run, signal)], { tx })
  return delivery!
}
