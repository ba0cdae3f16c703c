import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { failed, received } from '../scenario/index.ts'
import type { CaseRun } from '../scenario/run.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { CaseWorker } from '../scenario/worker.ts'
import { prune } from './ended-runs.ts'
import { pairWaitingFor } from './waits.ts'

const NO = { key: 'k', payload: '{"approved":false}', payloadHash: 'no' } as const
const YES = { key: 'k', payload: '{"approved":true}', payloadHash: 'yes' } as const

/** A run that failed because of its first step's signal. */
async function rejected(given: Scenario): Promise<{ run: CaseRun; worker: CaseWorker }> {
  const { run, worker } = await pairWaitingFor(given, null)
  await given.signal(run, 'a', NO)
  await worker.settle([failed(await worker.claimOf(run, 'a'))])
  await given.undo(run)
  return { run, worker }
}

export const signalAnewCases: Cases = {
  'a step that failed on its signal and is retried takes the same key again, as a new signal': async (
    given,
  ) => {
    const { run, worker } = await rejected(given)
    await given.operate(run).retry()

    expect(await given.signal(run, 'a', YES)).toEqual({ result: 'kept' })

    expect(await run.step('a')).toMatchObject({ status: 'ready', output: YES.payload })
    await worker.settle([received(await worker.claimOf(run, 'a'))])
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: YES.payload })
  },

  'a key that was sent again is recorded only once more': async (given) => {
    const { run } = await rejected(given)
    await given.operate(run).retry()
    await given.signal(run, 'a', YES)
    const before = await given.snapshot()

    const again = await given.signal(run, 'a', NO)

    expect(again).toEqual({ result: 'duplicate', recorded: YES.payload, payloadHash: 'yes' })
    expect(await given.snapshot()).toEqual(before)
  },

  'a key can be sent again whenever its step asks anew, and the history has every signal': async (given) => {
    const { run, worker } = await rejected(given)
    for (let time = 2; time <= 4; time += 1) {
      await given.operate(run).retry()
      await given.advance(10)
      expect(await given.signal(run, 'a', NO)).toEqual({ result: 'kept' })
      await worker.settle([failed(await worker.claimOf(run, 'a'))])
      await given.undo(run)
    }

    const history = await given.operate(run).history()

    const signals = history.filter(({ action }) => action === 'signal')
    expect(signals.map(({ step, key }) => [step, key])).toEqual(Array(4).fill(['a', 'k']))
  },

  'a retry keeps the signals of steps that did not fail, and their keys stay used': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.signal(run, 'b', YES)
    await given.cancel(run)
    await given.undo(run)
    await given.operate(run).retry()

    expect(await run.step('b')).toMatchObject({ status: 'pending', output: YES.payload })
    expect(await given.signal(run, 'b', NO)).toMatchObject({
      result: 'duplicate',
      recorded: YES.payload,
      payloadHash: 'yes',
    })
  },

  'a refused signal is answered with the hash of the recorded payload': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', YES)

    expect(await given.signal(run, 'a', { ...NO, key: 'other' })).toEqual({
      result: 'ignored',
      reason: 'signalled',
      recorded: YES.payload,
      payloadHash: 'yes',
    })
  },

  'a step that was skipped after its signal and runs again takes the same key again': async (given) => {
    const graph = await given.graph('diamond', { a: [], b: ['a'], c: ['b'] })
    const run = await given.start(graph)
    const worker = await given.worker()
    await worker.complete(run, 'a')
    await given.signal(run, 'b', NO)
    await given.operate(run).skipStep('b', { output: 1 })
    await worker.fail(run, 'c')
    await given.undo(run)
    await worker.compensate(run, 'a')
    await given.operate(run).retry()

    expect(await given.signal(run, 'b', YES)).toEqual({ result: 'kept' })
    expect(await run.step('b')).toMatchObject({ status: 'pending', output: YES.payload })
  },

  'superseded signals move with their step to another version, and stay superseded': async (given) => {
    const { run } = await rejected(given)
    const graph = await given.graph(run.graph.name, { n: [], a: ['n'], b: ['a'] }, 2)
    await given.operate(run).retry()
    await given.signal(run, 'a', YES)
    const { id: _, ...record } = graph.saved
    const workflow = { name: graph.name, version: 2, record } as never

    await given.operator().migrateRun(run.id, workflow)

    const moved = { runId: run.id, definitionId: graph.id, step: graph.numberOf('a'), actor: null, ...NO }
    const [delivery] = await given.adapter.deliverSignals([moved])
    expect(delivery).toEqual({ result: 'duplicate', recorded: YES.payload, payloadHash: 'yes' })
    const history = await given.operate(run).history()
    expect(history.filter(({ action }) => action === 'signal')).toMatchObject([
      { step: 'a', change: { approved: false } },
      { step: 'a', change: { approved: true } },
    ])
  },

  'pruning a run deletes all its signals, superseded or not': async (given) => {
    const { run, worker } = await rejected(given)
    await given.operate(run).retry()
    await given.signal(run, 'a', YES)
    await worker.settle([received(await worker.claimOf(run, 'a'))])
    await worker.complete(run, 'b')

    expect(await prune(given.adapter, run)).toEqual([run.id])

    expect(await given.adapter.readHistory({ runId: run.id, limit: 100 })).toEqual([])
    expect(await given.signal(run, 'a', YES)).toEqual({ result: 'unknown' })
  },
}
