import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { failed, type Graph, received, waiting } from '../scenario/index.ts'
import { pairWaitingFor } from './waits.ts'

export const controlledWaitCases: Cases = {
  'a signal that arrives while its run is paused is taken after the run is resumed': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)
    await given.operate(run).pause()

    expect(await given.signal(run, 'a', { payload: '1' })).toEqual({ result: 'delivered' })
    // The claim that reads the queue row drops it.
    expect(await worker.take()).toEqual([])
    await given.operate(run).resume()

    await worker.settle([received(await worker.claimOf(run, 'a'))])
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '1' })
  },

  'a timer that comes due while its run is paused fires after the run is resumed; a later timer fires at its time':
    async (given) => {
      const [early, late] = [
        await pairWaitingFor(given, { afterMs: 1_000 }),
        await pairWaitingFor(given, { afterMs: 4_000 }),
      ]
      for (const { run } of [early, late]) await given.operate(run).pause()
      await given.advance(1_500)
      const worker = await given.worker()
      expect(await worker.take()).toEqual([])

      for (const { run } of [early, late]) await given.operate(run).resume()

      expect(await worker.take()).toMatchObject([{ runId: early.run.id, step: 0 }])
      await given.advance(2_600)
      await given.adapter.renew({ workerId: worker.id, leaseMs: 60_000, busy: 0 })
      expect(await worker.take()).toMatchObject([{ runId: late.run.id, step: 0 }])
    },

  'a wait without a timeout is not claimed because its run was paused': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)
    await given.operate(run).pause()
    await given.operate(run).resume()

    expect(await worker.take()).toEqual([])
    expect(await run.status()).toBe('waiting')
  },

  'a run that was paused before its start begins at its start': async (given) => {
    const graph = await given.graph('later', { a: [] })
    const run = await given.start(graph, { startDelayMs: 5_000 })
    await given.operate(run).pause()
    await given.operate(run).resume()
    const worker = await given.worker()

    expect(await run.status()).toBe('scheduled')
    await given.operate(run).retryStep('a')
    expect(await worker.take()).toEqual([])
    await given.advance(5_000)
    const heir = await given.worker()
    expect(await heir.take()).toMatchObject([{ runId: run.id, step: 0 }])
  },

  'a waiting step can be skipped, and a later signal for it is too late': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 1_000 })

    await given.operate(run).skipStep('a', { output: 'by phone' })

    expect(await given.signal(run, 'a')).toMatchObject({ result: 'ignored' })
    expect(await run.step('a')).toMatchObject({ status: 'skipped', output: '"by phone"' })
    await given.advance(1_000)
    expect(await worker.take()).toMatchObject([{ step: 1 }])
  },

  'the stand-in of a skipped step replaces a signal that the step has not read': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', { payload: '"told"', key: 'k' })

    await given.operate(run).skipStep('a', { output: 'stand-in' })

    expect(await run.step('a')).toMatchObject({ status: 'skipped', output: '"stand-in"', signalledAt: null })
    expect(await given.signal(run, 'a', { key: 'k' })).toEqual({ result: 'duplicate', recorded: null })
    expect(await given.signal(run, 'a', { key: 'new' })).toMatchObject({ result: 'ignored', recorded: null })
  },

  'a retried run takes its signals again, except for a step that failed on its signal': async (given) => {
    const run = await given.start(await given.graph('told', { gate: [], bad: [], after: ['gate', 'bad'] }))
    const worker = await given.worker()
    for (const name of ['gate', 'bad', 'after'])
      await given.signal(run, name, { payload: `"${name}"`, key: name })
    const [gate, bad] = await worker.claimsOf(run, 'gate', 'bad')
    await worker.settle([failed(bad!)])
    await worker.settle([received(gate!)])
    await given.undo(run)
    await worker.compensate(run, 'gate')

    await given.operate(run).retry()

    expect(await run.step('gate')).toMatchObject({
      status: 'ready',
      output: '"gate"',
      signalledAt: expect.any(Number),
    })
    expect(await run.step('bad')).toMatchObject({ status: 'ready', output: null, signalledAt: null })
    expect(await run.step('after')).toMatchObject({ status: 'pending', output: '"after"' })
    expect(await given.signal(run, 'bad', { payload: '2', key: 'other' })).toEqual({ result: 'kept' })
  },

  'signals are in the history of their run, between operators’ actions': async (given) => {
    const { run } = await pairWaitingFor(given, null)
    await given.operate(run).pause({ by: 'ann' })
    await given.advance(10)
    await given.signal(run, 'b', { payload: '{"n":1}', key: 'k1', actor: 'bob' })
    await given.advance(10)
    await given.operate(run).resume({ by: 'ann' })

    const history = await given.operate(run).history()

    expect(history.map(({ action, step, by, key }) => [action, step, by, key])).toEqual([
      ['pause', undefined, 'ann', undefined],
      ['signal', 'b', 'bob', 'k1'],
      ['resume', undefined, 'ann', undefined],
    ])
    expect(history[1]!.change).toEqual({ n: 1 })
  },

  'signals and waits move with their steps to another version': async (given) => {
    const old = await given.start(await given.graph('moving', { a: [], w: ['a'], z: ['w'] }))
    const worker = await given.worker()
    await worker.complete(old, 'a')
    await worker.settle([waiting(await worker.claimOf(old, 'w'), { afterMs: 2_000 })])
    await given.signal(old, 'z', { payload: '"for z"', key: 'k' })
    const graph = await given.graph('moving', { a: [], b: ['a'], c: ['b'], w: ['a'], z: ['w', 'c'] }, 2)

    await given.operator().migrateRun(old.id, workflowOf(graph))

    const steps = Object.fromEntries((await old.read()).steps.map((step) => [step.name, step]))
    expect(steps['w']).toMatchObject({ step: 3, status: 'waiting', waitingSince: expect.any(Number) })
    expect(steps['z']).toMatchObject({ step: 4, status: 'pending', output: '"for z"', openDependencies: 2 })
    const [signal] = await given.operate(old).history()
    expect(signal).toMatchObject({ action: 'signal', step: 'z', key: 'k' })
    await given.advance(2_000)
    const heir = await given.worker()
    expect((await heir.take()).map(({ step }) => step).sort()).toEqual([1, 3])
  },
}

/** The parts of a definition that `migrateRun()` reads. */
function workflowOf({ saved }: Graph) {
  const { id: _, ...record } = saved
  return { name: saved.name, version: saved.version, record } as never
}
