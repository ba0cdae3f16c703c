import { type CallerTransaction, define, unchecked } from '@belay/workflow'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memory } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

const order = define('order', { version: 1, input: unchecked<{ id: number }>() }).step('charge', {
  run: ({ input }) => `charged ${input.id}`,
})

describe('a run started in a caller’s transaction', () => {
  it('runs once that commits', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [order] })

    const run = await adapter.transaction(async (tx) => {
      const started = await engine.run(order, { id: 7 }, { key: 'order:7', tx })
      await clock.advance('5s')
      expect(adapter.dump().runs).toEqual([])
      return started
    })

    expect(run.created).toBe(true)
    expect(await clock.runUntil(run.result())).toEqual({ charge: 'charged 7' })
  })

  it('is rolled back with it: no run, no event, no cached input', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [order] })
    const events: unknown[] = []
    engine.on('run.started', (event) => events.push(event))

    const ids: string[] = []
    const end = adapter.transaction(async (tx) => {
      ids.push((await engine.run(order, { id: 7 }, { key: 'order:7', tx })).id)
      throw new Error('sold out')
    })
    await expect(end).rejects.toThrow('sold out')
    await clock.advance('5s')

    expect(adapter.dump().runs).toEqual([])
    expect(events).toEqual([])
    // The definition belongs to the process, not to the transaction.
    expect(adapter.dump().definitions).toHaveLength(1)
    await expect(engine.runs.handle(ids[0]!).status()).rejects.toMatchObject({ code: 'unknown_run' })
    // The key is free for another order.
    expect(await engine.run(order, { id: 8 }, { key: 'order:7' })).toMatchObject({ created: true })
  })

  it('finds the run that has its key, and refuses another input with that key', async () => {
    const { adapter, engine: make } = engines()
    const engine = make()
    const first = await engine.run(order, { id: 7 }, { key: 'order:7' })

    await adapter.transaction(async (tx) => {
      const second = await engine.run(order, { id: 7 }, { key: 'order:7', tx })
      expect([second.id, second.created]).toEqual([first.id, false])
      await expect(engine.run(order, { id: 8 }, { key: 'order:7', tx })).rejects.toMatchObject({
        code: 'key_conflict',
      })
    })
    expect(adapter.dump().runs).toHaveLength(1)
  })

  it('may be one of many, all of them or none', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [order] })
    const many = Array.from({ length: 2_500 }, (_, id) => ({ input: { id }, key: `order:${id}` }))

    const runs = await adapter.transaction((tx) => engine.runMany(order, many, { tx }))
    const gone = adapter.transaction(async (tx) => {
      await engine.runMany(order, [{ input: { id: -1 } }, { input: { id: -2 } }], { tx })
      throw new Error('no')
    })
    await expect(gone).rejects.toThrow('no')

    expect(runs).toHaveLength(2_500)
    expect(await clock.runUntil(runs.at(-1)!.result())).toEqual({ charge: 'charged 2499' })
    expect(adapter.dump().runs).toHaveLength(2_500)
  })

  it('can be started by a transactional step, with the step’s own transaction', async () => {
    const { clock, worker } = engines()
    let tries = 0
    const parent = define('parent', { version: 1 }).step('start', {
      transaction: true,
      retry: { retries: 1, initial: '1s' },
      run: async ({ tx, idempotencyKey }): Promise<string> => {
        const child = await engine.run(order, { id: 1 }, { key: `${idempotencyKey}:${tries}`, tx })
        tries += 1
        if (tries === 1) throw new Error('after it was started')
        return child.id
      },
    })
    const engine = await worker({ workflows: [parent, order] })

    const run = await engine.run(parent)
    const { start } = await clock.runUntil(run.result())

    expect(await clock.runUntil(engine.runs.handle(start).result())).toEqual({ charge: 'charged 1' })
    expect(await engine.runs.list({ workflow: 'order' })).toHaveLength(1)
  })

  it('is never retried if the store’s answer is lost: only the caller can repeat the transaction', async () => {
    const { adapter, engine: make } = engines()
    let calls = 0
    const losing = Object.assign(Object.create(adapter) as typeof adapter, {
      startRuns: async () => {
        calls += 1
        throw new StoreUnavailableError('the connection broke')
      },
    })
    const engine = make({ adapter: losing })

    const end = adapter.transaction((tx) => engine.run(order, { id: 1 }, { tx }))

    await expect(end).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(calls).toBe(1)
  })

  it('is refused if tx is not an open transaction of the engine’s store', async () => {
    const { adapter, engine: make } = engines()
    const engine = make()
    let past: unknown
    await adapter.transaction(async (tx) => {
      past = tx
    })

    for (const wrong of [past, {}, 'begin', null]) {
      const tx = wrong as CallerTransaction
      await expect(engine.run(order, { id: 1 }, { tx })).rejects.toMatchObject({ code: 'invalid_option' })
    }
    await memory().transaction(async (tx) => {
      await expect(engine.run(order, { id: 1 }, { tx })).rejects.toThrow(/another memory store/)
    })
    expect(adapter.dump().runs).toEqual([])
  })

  it('with runMany(), takes one tx for all runs, not one for each', async () => {
    const { adapter, engine: make } = engines()
    const engine = make()

    await adapter.transaction(async (tx) => {
      const runs = [{ input: { id: 1 }, tx } as { input: { id: number } }]
      await expect(engine.runMany(order, runs)).rejects.toThrow(/runMany\(\): run 0 has no option "tx"/)
    })
    expect(adapter.dump().runs).toEqual([])
  })

  it('holds its key until the transaction ends, and two starts that want each other’s keys don’t wait forever', async () => {
    const { adapter, engine: make } = engines()
    const engine = make()
    const start = (key: string, tx: CallerTransaction) => engine.run(order, { id: 1 }, { key, tx })

    const ends = await Promise.allSettled(
      [
        ['a', 'b'],
        ['b', 'a'],
      ].map(([first, second]) =>
        adapter.transaction(async (tx) => {
          await start(first!, tx)
          await start(second!, tx)
        }),
      ),
    )

    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(adapter.dump().runs).toHaveLength(2)
  })
})

describe('a signal or decision sent in a caller’s transaction', () => {
  const shipped = define('shipped', { version: 1 })
    .waitForSignal('parcel', { schema: z.object({ tracking: z.string() }) })
    .approval('release', { dependsOn: ['parcel'] })

  it('is taken when that commits', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [shipped] })
    const run = await engine.run(shipped)
    await clock.advance('1s')

    const receipt = await adapter.transaction(async (tx) => {
      const sent = await run.signal('parcel', { tracking: 'T1' }, { key: 'hook', tx })
      await clock.advance('1s')
      expect((await run.status()).steps[0]?.status).toBe('waiting')
      return sent
    })
    await clock.advance('1s')
    await adapter.transaction((tx) => run.approve('release', { by: 'ann', tx }))

    expect(receipt.result).toBe('delivered')
    expect(await clock.runUntil(run.result())).toMatchObject({
      parcel: { tracking: 'T1' },
      release: { by: 'ann' },
    })
  })

  it('is rolled back with it, and can be sent again with its key', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [shipped] })
    const run = await engine.run(shipped)
    await clock.advance('1s')

    const end = adapter.transaction(async (tx) => {
      await run.signal('parcel', { tracking: 'T1' }, { key: 'hook', tx })
      throw new Error('no such parcel')
    })
    await expect(end).rejects.toThrow('no such parcel')
    await clock.advance('1s')

    expect((await run.status()).steps[0]?.status).toBe('waiting')
    expect(await run.signal('parcel', { tracking: 'T2' }, { key: 'hook' })).toMatchObject({
      result: 'delivered',
    })
  })

  it('may be sent to a run of the same transaction', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [shipped] })

    const run = await adapter.transaction(async (tx) => {
      const started = await engine.run(shipped, undefined, { key: 'k', tx })
      const target = { workflow: shipped, key: 'k' }
      expect(await engine.signal(target, 'parcel', { tracking: 'T1' }, { tx })).toMatchObject({
        result: 'kept',
      })
      return started
    })
    await clock.advance('1s')
    await run.approve('release', { by: 'ann' })

    expect(await clock.runUntil(run.result())).toMatchObject({ parcel: { tracking: 'T1' } })
  })

  it('is a conflict if its step changes before the commit: nothing of the transaction is kept', async () => {
    const { clock, adapter, worker } = engines()
    const engine = await worker({ workflows: [shipped] })
    const run = await engine.run(shipped)
    await clock.advance('1s')
    const effects: string[] = []

    const end = adapter.transaction(async (tx) => {
      tx.onCommit(() => effects.push('parcel noted'))
      await run.signal('parcel', { tracking: 'T1' }, { tx })
      await run.cancel()
    })

    await expect(end).rejects.toMatchObject({ code: '40001' })
    expect(effects).toEqual([])
  })
})
