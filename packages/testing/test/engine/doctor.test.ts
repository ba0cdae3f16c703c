import { BelayError, define, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/index.ts'
import { engines, gate, StoppableClock } from './bench-of-engines.ts'

const old = define('order', { version: 1 }).step('a', { run: () => 1 })
const current = define('order', { version: 2 }).step('b', { run: () => 2 })

describe('the doctor', () => {
  it('finds no problem in a working store', async () => {
    const { clock, worker } = engines()
    const held = gate()
    const workflow = define('slow', { version: 1 }).step('a', { run: () => held.passed })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('10m')

    const report = await engine.doctor()

    expect(report).toMatchObject({ healthy: true, findings: [], store: { adapter: 'memory' } })
    held.open()
    await clock.runUntil(run.result())
  })

  it('names a version without a worker, until a worker has it or its runs have ended', async () => {
    const { clock, worker, engine } = engines()
    const trigger = engine()
    const run = await trigger.run(old)
    const newWorker = await worker({ workflows: [current] })
    await clock.advance('10m')

    const before = await trigger.doctor()
    const oldWorker = await worker({ workflows: [old] })
    await clock.runUntil(run.result())
    await clock.runUntil(oldWorker.stop())
    const after = await newWorker.doctor()

    expect(before.healthy).toBe(false)
    expect(before.findings).toMatchObject([
      { type: 'version_without_worker', workflow: 'order', version: 1, runs: 1, runIds: [run.id] },
    ])
    expect(after.findings).toEqual([])
  })

  it('finds a version of which many runs failed of late, and forgets it', async () => {
    const { clock, worker } = engines()
    const flow = define('flow', { version: 1 }).step('pay', {
      run: ({ input }) => {
        if (input === 'broken') throw new PermanentError('no')
      },
    })
    const engine = await worker({ workflows: [flow] })
    const inputs = ['broken', 'broken', 'broken', ...Array(7).fill('good')]
    const runs = await engine.runMany(
      flow,
      inputs.map((input) => ({ input })),
    )
    await clock.runUntil(Promise.allSettled(runs.map((run) => run.result())))

    const failing = [{ type: 'failing_runs', workflow: 'flow', ended: 10, failed: 3, step: 'pay' }]
    expect((await engine.doctor()).findings).toMatchObject(failing)
    expect((await engine.doctor({ failureRate: 0.4 })).findings).toEqual([])
    await clock.advance('20m')
    expect((await engine.doctor()).findings).toEqual([])
    expect((await engine.doctor({ recent: '1h' })).findings).toMatchObject(failing)
  })

  it('finds parked sagas', async () => {
    const { clock, worker } = engines()
    const workflow = define('saga', { version: 1 })
      .step('a', {
        run: () => 1,
        compensate: { run: () => Promise.reject(new Error('no')), retry: false },
      })
      .step('b', { dependsOn: ['a'], retry: false, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect((await engine.doctor()).findings).toMatchObject([{ type: 'parked_runs', runIds: [run.id] }])
  })

  it('finds a dead worker that nobody sweeps', async () => {
    const { clock, worker, engine } = engines()
    const stopped = new StoppableClock(clock)
    await worker({ workflows: [current], clock: stopped, lease: '3s', name: 'gone' })
    await clock.advance('100ms')
    stopped.stop()
    await clock.advance('1m')

    expect((await engine().doctor()).findings).toMatchObject([{ type: 'dead_worker', name: 'gone' }])
    await worker({ workflows: [current] })
    await clock.advance('2s')
    expect((await engine().doctor()).findings).toEqual([])
  })

  it('reports a lack of slots', async () => {
    const { clock, worker } = engines()
    const held = gate()
    const workflow = define('slow', { version: 1 })
      .step('a', { run: () => held.passed })
      .step('b', { run: () => held.passed })
    const engine = await worker({ workflows: [workflow], concurrency: 1 })
    const run = await engine.run(workflow)
    await clock.advance('2m')

    expect((await engine.doctor()).findings).toMatchObject([{ type: 'no_free_slots', steps: 1, slots: 1 }])
    expect((await engine.doctor({ overdueFor: '3m' })).findings).toEqual([])
    held.open()
    await clock.runUntil(run.result())
  })

  it('reports a store that is not fit for use as a finding, and throws if the store is unavailable', async () => {
    const { engine } = engines()
    const broken = (code: 'schema_outdated' | 'store_unavailable') => {
      const adapter = memory()
      adapter.open = () =>
        Promise.reject(new BelayError(code, 'It lacks 0002.', { remedy: 'Run migrate().' }))
      return engine({ adapter }).doctor()
    }

    expect(await broken('schema_outdated')).toEqual({
      healthy: false,
      findings: [
        {
          type: 'store_unusable',
          code: 'schema_outdated',
          message: 'It lacks 0002.',
          remedy: 'Run migrate(). No engine can start on this store until then.',
          actions: [],
        },
      ],
      store: { adapter: 'memory' },
      checkedAt: undefined,
    })
    await expect(broken('store_unavailable')).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  it.each([
    [{ pausedFor: -1 }, /pausedFor must be a duration from 0 to 10000d.*; got -1/],
    [{ overdue: '1m' }, /doctor\(\) has no option "overdue"/],
    [null, /doctor\(\): the options must be an object/],
  ])('refuses %j', async (options, message) => {
    await expect(
      engines()
        .engine()
        .doctor(options as never),
    ).rejects.toThrow(message)
  })
})
