import { createEngine, define, type EngineOptions } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type MemoryAdapter, memory, VirtualClock } from '../../src/index.ts'

/** A database that can be put back to another state under running processes: all of them go on with that one. */
function database() {
  const clock = new VirtualClock()
  const empty = () => memory({ clock })
  let present: MemoryAdapter = empty()
  const hidden: { timeline: string; renew?: Adapter['renew'] } = { timeline: '1' }
  const adapter = new Proxy(present, {
    get: (_, name) => {
      if (name === 'timeline') return async () => hidden.timeline
      if (name === 'renew' && hidden.renew !== undefined) return hidden.renew
      // A renewal that is left out on the virtual clock would find nothing: here it does.
      if (name === 'stillness') return undefined
      const value: unknown = Reflect.get(present, name)
      return typeof value === 'function' ? value.bind(present) : value
    },
  }) as Adapter
  const engine = (options: Partial<EngineOptions> = {}) => {
    const made = createEngine({ adapter, random: () => 0.5, logger: SILENT, ...options })
    onTestFinished(async () => {
      await clock.runUntil(made.close({ timeout: 0 }), { limit: '1h' })
    })
    return made
  }
  const worker = async (options: Partial<EngineOptions>) => {
    const made = engine(options)
    await made.start()
    return made
  }
  const becomes = async (state: MemoryAdapter) => {
    await state.open()
    present = state
  }
  return { adapter, clock, empty, engine, worker, becomes, hidden }
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** A workflow whose handler notes the inputs that it gets. */
function noting(name: string) {
  const inputs: unknown[] = []
  const workflow = define(name, { version: 1 }).step('note', {
    run: ({ input }) => {
      inputs.push(input)
      return name
    },
  })
  return { name, workflow, inputs }
}

describe('after a failover that lost commits', () => {
  it('a process starts runs of a workflow whose definition was lost, with a worker and without', async () => {
    const { clock, empty, worker, engine, becomes } = database()
    const [orders, mails] = [noting('orders'), noting('mails')]
    const working = await worker({ workflows: [orders.workflow] })
    const trigger = engine()
    await clock.runUntil((await trigger.run(mails.workflow, undefined)).cancel())
    await becomes(empty())

    const run = await working.run(orders.workflow, 'mine' as never)
    await trigger.run(mails.workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ note: 'orders' })
    expect(orders.inputs).toEqual(['mine'])
  })

  it('no handler gets the input of another workflow, in whatever order others store their definitions again', async () => {
    const { clock, empty, worker, becomes } = database()
    const all = Array.from({ length: 6 }, (_, n) => noting(`flow-${n}`))
    const workers = [await worker({ workflows: all.slice(0, 3).map(({ workflow }) => workflow) })]
    workers.push(await worker({ workflows: all.slice(3).map(({ workflow }) => workflow) }))
    const restored = empty()
    await restored.open()
    await restored.saveDefinitions([...all].reverse().map(({ workflow }) => workflow.record))
    await becomes(restored)

    for (const { name, workflow } of all)
      for (const started of workers) await started.run(workflow, name as never)
    await clock.advance('2m')

    for (const { name, inputs } of all) expect(inputs).toEqual([name, name])
  })

  it('a worker stores its definitions, limits and schedules again, and leaves those that others have changed', async () => {
    const { adapter, clock, empty, worker, becomes } = database()
    const workflow = define('orders', { version: 1 })
      .step('one', { concurrency: { name: 'few', limit: 2 }, run: () => 1 })
      .step('two', { concurrency: { name: 'newer', limit: 3 }, run: () => 1 })
    const schedules = ['nightly', 'hourly'].map((name) => ({ name, cron: '0 3 * * *', workflow }))
    await worker({ workflows: [workflow], schedules })
    const restored = empty()
    await restored.open()
    await restored.declareLimits([{ name: 'newer', concurrency: 7 }])
    await becomes(restored)

    await clock.advance('1m')

    expect(await adapter.findDefinition({ name: 'orders' })).toMatchObject({ version: 1 })
    const stored = await adapter.readLimits()
    expect(Object.fromEntries(stored.map(({ name, declared }) => [name, declared]))).toEqual({
      few: 2,
      newer: 7,
    })
    const { schedules: left } = await adapter.readSchedules({ limit: 10 })
    expect(left.map(({ name }) => name)).toEqual(['hourly', 'nightly'])
  })

  it('says once that the store went back, in the log, as a notice and in doctor()', async () => {
    const { clock, empty, worker, becomes } = database()
    const warn = vi.fn()
    const notices: string[] = []
    const { workflow } = noting('orders')
    const engine = await worker({ workflows: [workflow], logger: { ...SILENT, warn } })
    engine.on('store.notice', ({ code }) => void notices.push(code))
    expect((await engine.doctor()).healthy).toBe(true)
    await becomes(empty())

    await clock.advance('30s')
    const { findings } = await engine.doctor()
    await clock.advance('2h')

    expect(notices).toEqual(['store_went_back'])
    const told = warn.mock.calls.filter(([, fields]) => fields?.code === 'store_went_back')
    expect(told).toHaveLength(1)
    expect(findings).toMatchObject([{ type: 'store_went_back', isSure: true }])
    expect(findings[0]!.message).toContain('"orders" version 1')
    expect((await engine.doctor()).healthy).toBe(true)
  })

  it('a worker whose row survived notices a promotion, and that its renewal was lost', async () => {
    const { adapter, clock, worker, hidden } = database()
    const engine = await worker({ workflows: [noting('orders').workflow], lease: '30s' })
    const { renew } = adapter
    await clock.advance('30s')
    hidden.timeline = '2'
    await clock.advance('30s')
    const promoted = (await engine.doctor()).findings

    // The store answers the next renewals as one that has never had the one before.
    hidden.renew = async (renewal) => {
      const renewed = await renew(renewal)
      return renewed === 'lost' ? renewed : { ...renewed, renewedBefore: renewed.renewedBefore - 10_000 }
    }
    await clock.advance('30s')

    expect(promoted).toMatchObject([{ type: 'store_went_back', isSure: false }])
    expect((await engine.doctor()).findings).toMatchObject([{ type: 'store_went_back', isSure: true }])
  })

  it('says it again for each promotion, however soon one follows another', async () => {
    const { clock, empty, worker, becomes, hidden } = database()
    const notices: string[] = []
    const engine = await worker({ workflows: [noting('orders').workflow], lease: '6s' })
    engine.on('store.notice', ({ code }) => void notices.push(code))
    await clock.advance('10s')

    for (const timeline of ['2', '3', '4']) {
      hidden.timeline = timeline
      await becomes(empty())
      await clock.advance('10s')
    }

    expect(notices).toEqual(['store_went_back', 'store_went_back', 'store_went_back'])
  })

  it('whoever awaits, watches or follows a lost run is told, and not left waiting', async () => {
    const { clock, empty, worker, engine, becomes } = database()
    const { workflow } = noting('orders')
    const waits = define('waits', { version: 1 }).step('wait', { run: () => new Promise<string>(() => {}) })
    await worker({ workflows: [workflow, waits] })
    const trigger = engine()
    const run = await trigger.run(waits, undefined)
    const watching = trigger.watch(run.id)
    await clock.runUntil(watching.next())
    const rest = async () => {
      for await (const _ of watching);
    }
    const waiters = Promise.allSettled([
      run.result(),
      run.step('wait'),
      rest(),
      trigger.runs.handle(run.id).result(),
    ])
    await clock.advance('3s')
    await becomes(empty())

    const ended = await clock.runUntil(waiters)

    expect(ended).toMatchObject(
      Array.from({ length: 4 }, () => ({ reason: { code: 'run_lost', runId: run.id } })),
    )
  })

  it('a run that ended before it was deleted is unknown, and not lost', async () => {
    const { clock, worker } = database()
    const { workflow } = noting('orders')
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())
    await clock.advance('1s')
    await clock.runUntil(engine.prune({ olderThan: 0 }))

    await expect(clock.runUntil(run.result())).rejects.toMatchObject({ code: 'unknown_run' })
  })
})
