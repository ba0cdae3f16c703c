import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { completed, failed, received, waiting } from '../scenario/index.ts'
import { pairWaitingFor } from './waits.ts'

export const signalCases: Cases = {
  'a signal makes a waiting step ready at once, with its payload': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)

    const delivery = await given.signal(run, 'a', { payload: '{"tracking":7}' })

    expect(delivery).toEqual({ result: 'delivered' })
    expect(await run.step('a')).toMatchObject({ status: 'ready', output: '{"tracking":7}' })
    expect((await run.step('a')).signalledAt).toBeCloseTo(await given.adapter.now(), 0)
    const [claim] = await worker.take()
    const settled = await worker.settle([received(claim!)], 10)
    expect(settled).toMatchObject({ results: ['settled'], claims: [{ step: 1 }] })
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '{"tracking":7}' })
  },

  'a signal that comes before the timeout ends the wait, and the timeout has no effect': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 5_000 })
    await given.signal(run, 'a')
    await worker.settle([received(await worker.claimOf(run, 'a'))])
    await worker.complete(run, 'b')
    await given.advance(5_000)
    expect(await worker.take()).toEqual([])
    expect(await run.status()).toBe('completed')
  },

  'a signal for a step that has not begun is kept until the step waits': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    expect(await given.signal(run, 'b', { payload: '1' })).toEqual({ result: 'kept' })
    expect(await run.statuses()).toEqual({ a: 'ready', b: 'pending' })

    await worker.complete(run, 'a')
    const settled = await worker.settle([waiting(await worker.claimOf(run, 'b'), { afterMs: 9_000 })])

    expect(settled).toMatchObject({ results: ['settled'], queued: true })
    const [claim] = await worker.take()
    await worker.settle([received(claim!)])
    expect(await run.step('b')).toMatchObject({ status: 'completed', output: '1' })
  },

  'a signal for a step that is deciding to wait is kept, and the step becomes ready instead': async (
    given,
  ) => {
    const run = await given.pair()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    expect(await given.signal(run, 'a')).toEqual({ result: 'kept' })

    const settled = await worker.settle([waiting(claim, null)])

    expect(settled).toMatchObject({ results: ['settled'], queued: true })
    expect(await run.step('a')).toMatchObject({ status: 'ready', workerId: null })
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2 }])
  },

  'a wait that is repeated after its signal came answers settled, and changes nothing': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const outcome = waiting(await worker.claimOf(run, 'a'), null)
    await worker.settle([outcome])
    await given.signal(run, 'a')
    const before = await given.snapshot()
    expect((await worker.settle([outcome])).results).toEqual(['settled'])
    expect(await given.snapshot()).toEqual(before)
  },

  'the same key for the same step is recorded once': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', { key: 'webhook-1', payload: '1' })
    const before = await given.snapshot()

    const again = await given.signal(run, 'a', { key: 'webhook-1', payload: '2' })

    expect(again).toEqual({ result: 'duplicate', recorded: '1' })
    expect(await given.snapshot()).toEqual(before)
  },

  'one key may be used for several steps and runs': async (given) => {
    const graph = await given.graph('loose', { a: [], b: [] })
    const [one, two] = [await given.start(graph), await given.start(graph)]
    expect(await given.signal(one, 'a', { key: 'k' })).toEqual({ result: 'kept' })
    expect(await given.signal(one, 'b', { key: 'k' })).toEqual({ result: 'kept' })
    expect(await given.signal(two, 'a', { key: 'k' })).toEqual({ result: 'kept' })
  },

  'a second signal with another key is ignored: a step takes one': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', { payload: '1' })
    const before = await given.snapshot()

    const second = await given.signal(run, 'a', { payload: '2' })

    expect(second).toEqual({ result: 'ignored', reason: 'signalled', recorded: '1' })
    expect(await given.snapshot()).toEqual(before)
  },

  'a signal for an ended step or an ended run is ignored': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.complete(run, 'a')
    const before = await given.snapshot()
    expect(await given.signal(run, 'a')).toEqual({ result: 'ignored', reason: 'step_over', recorded: null })
    expect(await given.snapshot()).toEqual(before)
    await worker.complete(run, 'b')
    expect(await given.signal(run, 'b')).toEqual({ result: 'ignored', reason: 'run_over', recorded: null })
  },

  'a signal for a stopped run is ignored': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.cancel(run)
    expect(await given.signal(run, 'a')).toMatchObject({ result: 'ignored', reason: 'run_over' })
  },

  'a signal that comes while the timeout is being handled is ignored': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 1_000 })
    await given.advance(1_000)
    const claim = await worker.claimOf(run, 'a')

    expect(await given.signal(run, 'a')).toEqual({ result: 'ignored', reason: 'timed_out', recorded: null })

    await worker.settle([completed(claim, '"stand-in"')])
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '"stand-in"' })
  },

  'a signal that comes after the timeout, but before the step is claimed for it, is taken': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 1_000 })
    await given.advance(1_500)
    expect(await given.signal(run, 'a')).toEqual({ result: 'delivered' })
    const [claim] = await worker.take()
    await worker.settle([received(claim!)])
    expect(await run.status()).toBe('running')
  },

  'a rejected decision stays with its step when the step fails': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', { payload: '{"approved":false}', actor: 'ann' })
    await worker.settle([failed(await worker.claimOf(run, 'a'))])
    expect(await run.step('a')).toMatchObject({ status: 'failed', output: '{"approved":false}' })
    expect(await given.signal(run, 'a')).toMatchObject({
      result: 'ignored',
      reason: 'signalled',
      recorded: '{"approved":false}',
    })
  },

  'a signal for an unknown run, step or definition answers unknown': async (given) => {
    const run = await given.pair()
    const signal = given.newSignal(run, 'a')
    const other = await given.graph('other', { a: [] })
    const deliveries = await given.adapter.deliverSignals([
      { ...signal, runId: given.ids.runId() },
      { ...signal, step: 17 },
      { ...signal, definitionId: other.id },
    ])
    expect(deliveries).toEqual([{ result: 'unknown' }, { result: 'unknown' }, { result: 'unknown' }])
    expect(await given.adapter.deliverSignals([])).toEqual([])
  },

  'several signals of one call are answered in order, each separately': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    await worker.settle([waiting(await worker.claimOf(run, 's1'), null)])
    const [first, second, third] = [
      given.newSignal(run, 's2', { key: 'k', payload: '1' }),
      given.newSignal(run, 's1', { payload: '2' }),
      given.newSignal(run, 's2', { payload: '3' }),
    ]
    const deliveries = await given.adapter.deliverSignals([
      first,
      second,
      third,
      first,
      { ...second, runId: given.ids.runId() },
    ])
    expect(deliveries).toEqual([
      { result: 'kept' },
      { result: 'delivered' },
      { result: 'ignored', reason: 'signalled', recorded: '1' },
      { result: 'duplicate', recorded: '1' },
      { result: 'unknown' },
    ])
  },

  'payloads of signals come back unchanged': async (given) => {
    const payloads = ['0', 'false', '""', 'null', null, '{ "a" : "\\u0000" }']
    const run = await given.loose(payloads.length)
    for (const [n, payload] of payloads.entries()) await given.signal(run, `s${n}`, { payload })
    expect((await run.read()).steps.map(({ output }) => output)).toEqual(payloads)
  },

  'if one payload is not JSON, its call records nothing': async (given) => {
    const run = await given.loose(2)
    const signals = [given.newSignal(run, 's0'), given.newSignal(run, 's1', { payload: '{' })]
    const before = await given.snapshot()
    const message = expect.stringMatching(
      /^Nothing was recorded: the store refused a signal's payload or key: .+ Give a value that the store can keep\.$/,
    )
    const refused = { code: 'invalid_input', message }
    await expect(given.adapter.deliverSignals(signals)).rejects.toMatchObject({
      ...refused,
      runId: undefined,
    })
    const [, alone] = signals
    await expect(given.adapter.deliverSignals([alone!])).rejects.toMatchObject({ ...refused, runId: run.id })
    expect(await given.snapshot()).toEqual(before)
  },

  'a run is found by its id, and by its workflow and key': async (given) => {
    const graph = await given.graph('pair', { a: [], b: ['a'] }, 4)
    const run = await given.start(graph, { key: 'order:1' })
    const found = {
      runId: run.id,
      definitionId: graph.id,
      workflow: 'pair',
      version: 4,
      tags: [],
      parent: null,
      deadlineAt: null,
    }
    expect(await given.adapter.findRun({ runId: run.id })).toEqual(found)
    expect(await given.adapter.findRun({ workflow: 'pair', key: 'order:1' })).toEqual(found)
    expect(await given.adapter.findRun({ workflow: 'pair', key: 'order:2' })).toBeNull()
    expect(await given.adapter.findRun({ workflow: 'other', key: 'order:1' })).toBeNull()
    expect(await given.adapter.findRun({ runId: given.ids.runId() })).toBeNull()
    expect(await given.adapter.findRun({ runId: 'no uuid' })).toBeNull()
  },

  'when several processes send one signal, one of them delivers it': withSecond(async (given, second) => {
    const { run, worker } = await pairWaitingFor(given, null)
    const signal = given.newSignal(run, 'a', { key: 'webhook' })
    const deliveries = await Promise.all(
      [given.adapter, second, given.adapter, second].map((adapter) => adapter.deliverSignals([signal])),
    )
    expect(
      deliveries
        .flat()
        .map(({ result }) => result)
        .sort(),
    ).toEqual(['delivered', 'duplicate', 'duplicate', 'duplicate'])
    expect(await worker.take()).toHaveLength(1)
  }),
}
