import { define, type RunReference, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const order = define('order', { version: 1, input: unchecked<{ id: string }>() })
  .step('reserve', { run: ({ input }) => `reserved ${input.id}`, compensate: () => {} })
  .waitForSignal('paid', { dependsOn: ['reserve'], schema: unchecked<{ amount: number }>() })
  .approval('packing', { dependsOn: ['paid'] })

/** An order that waits for its payment, and every way to refer to it. */
async function waitingOrder() {
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [order], tick: '1m', lease: '1d' })
  const run = await engine.run(order, { id: 'o1' }, { key: 'o1' })
  await clock.advance('1s')
  const references: readonly (readonly [string, RunReference])[] = [
    ['a handle', run],
    ['an id', run.id],
    ['a snapshot', await run.status()],
    ['a definition and a key', { workflow: order, key: 'o1' }],
    ['the name of a workflow and a key', { workflow: 'order', key: 'o1' }],
    ['a handle by id and definition', engine.runs.handle(order, run.id)],
    ['a handle by key', engine.runs.handle(order, { key: 'o1' })],
  ]
  return { clock, engine, run, references }
}

describe('a run can be named by a handle, an id, or its workflow and key', () => {
  it('to read, explain, pause and resume it, and to read its history', async () => {
    const { engine, run, references } = await waitingOrder()

    for (const [how, reference] of references) {
      expect(await engine.runs.get(reference), how).toMatchObject({ id: run.id, key: 'o1' })
      expect(await engine.explain(reference), how).toMatchObject({ runId: run.id })
      expect(await engine.pause(reference, { by: how }), how).toBe(true)
      expect(await engine.resume(reference, { by: how }), how).toBe(true)
      expect((await engine.runs.history(reference)).at(-1), how).toMatchObject({ action: 'resume', by: how })
      expect(await engine.runs.handle(reference).status(), how).toMatchObject({ id: run.id })
    }
  })

  it('to send it signals and decisions, and to await it', async () => {
    const { clock, engine, run, references } = await waitingOrder()

    for (const [how, reference] of references) {
      const key = 'webhook-81'
      expect(await engine.signal(reference, 'paid', { amount: 7 }, { key }), how).toMatchObject({
        runId: run.id,
      })
    }
    await clock.advance('1s')
    for (const [how, reference] of references) {
      expect(await engine.approve(reference, 'packing', { by: 'ann' }), how).toMatchObject({ runId: run.id })
    }

    for (const [how, reference] of references) {
      const result = await clock.runUntil(engine.result(reference))
      expect(result, how).toMatchObject({ reserve: 'reserved o1', paid: { amount: 7 } })
    }
  })

  it('to reject, retry, cancel and move it to another version', async () => {
    const { clock, engine, run } = await waitingOrder()
    const byKey = { workflow: order, key: 'o1' }
    await engine.signal(byKey, 'paid', { amount: 7 })
    await clock.advance('1s')

    await engine.reject(byKey, 'packing', { by: 'ann' })
    await clock.runUntil(engine.result(byKey).catch(() => {}))
    const two = define('order', { version: 2, input: unchecked<{ id: string }>() })
      .step('reserve', { run: ({ input }) => `reserved ${input.id}`, compensate: () => {} })
      .waitForSignal('paid', { dependsOn: ['reserve'] })
      .approval('packing', { dependsOn: ['paid'] })
    expect(await engine.migrateRun({ workflow: 'order', key: 'o1' }, two)).toBe(true)
    await engine.retry(byKey)
    expect(await engine.cancel(byKey, { compensate: false })).toBe(true)

    expect((await run.status()).version).toBe(2)
    expect((await run.history()).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['migrate', 'retry', 'cancel']),
    )
  })

  it('to repair its steps and its undo', async () => {
    const { clock, worker } = engines()
    let fails = true
    const fragile = define('fragile', { version: 1 })
      .step('reserve', {
        run: () => 'reserved',
        compensate: {
          retry: false,
          run: () => {
            if (fails) throw new Error('the warehouse is closed')
          },
        },
      })
      .step('charge', {
        dependsOn: ['reserve'],
        retry: { attempts: 2, initial: '1h' },
        run: () => {
          throw new Error('the bank is down')
        },
      })
    const engine = await worker({ workflows: [fragile] })
    const run = { workflow: fragile, key: 'f1' } as const
    await engine.run(fragile, undefined, { key: 'f1' })
    await clock.advance('1s')

    await engine.retryStep(run, 'charge')
    await clock.advance('2h')
    await clock.runUntil(engine.result(run).catch(() => {}))
    expect(await engine.runs.get(run)).toMatchObject({ status: 'compensation_failed' })
    await engine.retryCompensation(run, 'reserve')
    await clock.advance('1s')
    fails = false
    await engine.skipCompensation(run, 'reserve')
    expect(await engine.runs.get(run)).toMatchObject({ status: 'compensated' })
    await engine.skipStep(run, 'charge', { output: undefined as never }).catch(() => {})
    await expect(engine.giveUpStep(run, 'charge', { reason: 'it hangs' })).rejects.toMatchObject({
      code: 'action_refused',
    })

    expect(statuses(await engine.runs.get(run))).toMatchObject({ charge: 'failed' })
  })
})

describe('a reference that names no run', () => {
  const missing = '01920000-0000-7000-8000-000000000000'

  it('is reported with the workflow and key, or with the id, by every verb', async () => {
    const { engine: make } = engines()
    const engine = make()
    const byKey = { workflow: order, key: 'o9' }
    const calls = (run: RunReference) => [
      engine.result(run),
      engine.signal(run, 'paid', { amount: 1 }),
      engine.approve(run, 'packing', { by: 'ann' }),
      engine.reject(run, 'packing', { by: 'ann' }),
      engine.explain(run),
      engine.cancel(run),
      engine.pause(run),
      engine.resume(run),
      engine.retry(run),
      engine.retryStep(run, 'reserve'),
      engine.skipStep(run, 'reserve'),
      engine.giveUpStep(run, 'reserve', { reason: 'it hangs' }),
      engine.retryCompensation(run, 'reserve'),
      engine.skipCompensation(run, 'reserve'),
      engine.migrateRun(run, order),
      engine.runs.history(run),
      engine.runs.handle(run).status(),
    ]

    for (const call of calls(byKey)) {
      const message = expect.stringContaining('There is no run of workflow "order" with key "o9"')
      await expect(call).rejects.toMatchObject({ code: 'unknown_run', message })
    }
    for (const call of calls(missing)) {
      const message = expect.stringContaining(`There is no run ${missing}`)
      await expect(call).rejects.toMatchObject({ code: 'unknown_run', runId: missing, message })
    }
    expect(await engine.runs.get(byKey)).toBeUndefined()
    expect(await engine.runs.get(missing)).toBeUndefined()
  })

  it('is refused, with the valid ways to name a run, if it can never name one', async () => {
    const { engine: make } = engines()
    const engine = make()
    const wrong = [7, null, undefined, {}, [], 'run 7', { id: 7 }, { key: 'k' }, { workflow: 'order' }]
    const worse = [
      { workflow: '', key: 'k' },
      { workflow: 'order', key: '' },
      { workflow: 7, key: 'k' },
    ]

    for (const reference of [...wrong, ...worse]) {
      await expect(engine.pause(reference as never)).rejects.toMatchObject({ code: 'invalid_option' })
      await expect(engine.signal(reference as unknown as string, 'paid', 1)).rejects.toMatchObject({
        code: 'invalid_option',
      })
    }
    await expect(engine.cancel(7 as never)).rejects.toThrow(
      'cancel(): the run must be a run id, an object with the id as `id` (a handle, a snapshot), or { workflow, key }; got 7.',
    )
  })
})

describe('a handle on a run that was started elsewhere', () => {
  it('by id and definition accepts only runs of that workflow', async () => {
    const { engine, run } = await waitingOrder()
    const other = define('refund', { version: 1 }).step('pay', { run: () => 1 })

    const handle = engine.runs.handle(other, run.id)

    const message = `There is no run ${run.id} of workflow "refund": that run is one of "order".`
    const calls = [
      handle.result(),
      handle.pause(),
      handle.explain(),
      engine.cancel(handle),
      engine.retry(handle),
    ]
    expect(await engine.runs.get(handle)).toBeUndefined()
    expect(await engine.runs.cancelMany([handle])).toMatchObject({ changed: 0, unknown: [run.id] })
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({ code: 'unknown_run', runId: run.id, message })
    }
    expect((await run.status()).status).toBe('waiting')
  })

  it('by key stays with the run that it found, even if another run gets the key later', async () => {
    const { clock, engine, run } = await waitingOrder()
    const handle = engine.runs.handle(order, { key: 'o1' })
    await handle.cancel()
    await clock.runUntil(run.result().catch(() => {}))
    await clock.advance('1s')
    await engine.runs.releaseKeys({ olderThan: 0 })
    await engine.run(order, { id: 'o2' }, { key: 'o1' })

    expect(await handle.status()).toMatchObject({ id: run.id, status: 'cancelled' })
    expect(await engine.explain(handle)).toMatchObject({ runId: run.id })
    expect((await engine.runs.get({ workflow: order, key: 'o1' }))?.id).not.toBe(run.id)
  })

  it('by key can be created before the run exists', async () => {
    const { engine: make } = engines()
    const engine = make()
    const handle = engine.runs.handle(order, { key: 'o1' })
    await expect(handle.status()).rejects.toMatchObject({ code: 'unknown_run' })

    const { id } = await engine.run(order, { id: 'o1' }, { key: 'o1' })

    expect(await handle.status()).toMatchObject({ id })
    expect(handle).toMatchObject({ workflow: 'order', key: 'o1' })
  })
})
