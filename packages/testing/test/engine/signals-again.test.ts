import { define, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines, statuses } from './bench-of-engines.ts'

const expense = define('expense', { version: 1 })
  .step('reserve', { run: () => 1, compensate: () => {} })
  .approval('manager', { dependsOn: ['reserve'], schema: z.object({ limit: z.number() }).optional() })
  .step('pay', { dependsOn: ['manager'], run: ({ deps }) => deps.manager })

/** A run whose approval waits for a decision. */
async function asked() {
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [expense] })
  const run = await engine.run(expense)
  await clock.advance('10s')
  return { clock, engine, run }
}

describe('an approval that was rejected and retried', () => {
  async function rejectedAndRetried() {
    const { clock, engine, run } = await asked()
    await run.reject('manager', { by: 'ann', key: 'message-1' })
    await clock.runUntil(run.result().catch(() => {}))
    await run.retry()
    await clock.advance('10s')
    return { clock, engine, run }
  }

  it('asks anew, and takes a new decision with the same key', async () => {
    const { clock, run } = await rejectedAndRetried()
    expect(statuses(await run.status())).toMatchObject({ manager: 'waiting' })

    const receipt = await run.approve('manager', { by: 'ann', key: 'message-1' })

    expect(receipt).toMatchObject({ result: 'delivered', key: 'message-1' })
    expect(await clock.runUntil(run.result())).toMatchObject({ pay: { approved: true, by: 'ann' } })
    const decisions = (await run.history()).filter(({ action }) => action === 'signal')
    expect(decisions).toMatchObject([
      { step: 'manager', key: 'message-1', change: { approved: false } },
      { step: 'manager', key: 'message-1', change: { approved: true } },
    ])
  })

  it('takes the same decision again too', async () => {
    const { clock, run } = await rejectedAndRetried()
    expect((await run.reject('manager', { by: 'ann', key: 'message-1' })).result).toBe('delivered')
    await clock.runUntil(run.result().catch(() => {}))
    expect((await run.status()).status).toBe('compensated')
  })
})

describe('an approval that was decided', () => {
  it.each([
    ['with the same key', { key: 'k' }],
    ['with another key', { key: 'other' }],
    ['without a key', {}],
  ])('refuses an approval with another payload %s, and says who decided', async (_, sent) => {
    const { run } = await asked()
    await run.approve('manager', { by: 'ann', payload: { limit: 9 }, key: 'k' })
    const before = await run.history()

    const again = run.approve('manager', { by: 'bob', payload: { limit: 10 }, ...sent })

    await expect(again).rejects.toMatchObject({ code: 'decision_conflict', step: 'manager', runId: run.id })
    await expect(again).rejects.toThrow(
      /was approved by ann at 2025-.* with another payload, and can no longer be approved\. Nothing was recorded\./,
    )
    expect(await run.history()).toEqual(before)
  })

  it('treats the same decision with the same payload as a duplicate, whoever sends it', async () => {
    const { run } = await asked()
    await run.approve('manager', { by: 'ann', payload: { limit: 9 } })
    expect(await run.approve('manager', { by: 'bob', payload: { limit: 9 } })).toMatchObject({
      result: 'duplicate',
    })
  })

  it('refuses the opposite decision with the same key', async () => {
    const { run } = await asked()
    await run.approve('manager', { by: 'ann', key: 'k' })
    await expect(run.reject('manager', { by: 'ann', key: 'k' })).rejects.toMatchObject({
      code: 'decision_conflict',
      message: expect.stringMatching(/was approved by ann at .*, and can no longer be rejected/),
    })
  })
})

describe('a signal that is sent again with its key', () => {
  let received = 0
  const shipment = define('shipment', { version: 1 })
    .waitForSignal('shipped', {
      // The schema's result differs each time, and omits a number that the sender counts up.
      schema: z.object({ tracking: z.string() }).transform((value) => ({ ...value, number: ++received })),
    })
    .waitForSignal('paid', { schema: z.object({ sum: z.number() }) })
    .waitForSignal('checked', { schema: unchecked<unknown>() })

  async function given() {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [shipment] })
    const run = await engine.run(shipment)
    await clock.advance('1s')
    return run
  }

  it('is a duplicate if the sender’s payload is the same, whatever the schema makes of it', async () => {
    const run = await given()
    await run.signal('shipped', { tracking: 'T1' }, { key: 'k' })
    expect(await run.signal('shipped', { tracking: 'T1' }, { key: 'k' })).toMatchObject({
      result: 'duplicate',
    })
  })

  it('is a duplicate if the schema’s result is the same, whatever else the payload contains', async () => {
    const run = await given()
    const body = { sum: 7, tries: 1 }
    await run.signal('paid', body, { key: 'k' })
    expect(await run.signal('paid', { ...body, tries: 2 } as never, { key: 'k' })).toMatchObject({
      result: 'duplicate',
    })
  })

  it('is a duplicate whatever the order of the keys in its payload', async () => {
    const run = await given()
    await run.signal('checked', { a: 1, b: [{ c: 2, d: 3 }] }, { key: 'k' })
    expect(await run.signal('checked', { b: [{ d: 3, c: 2 }], a: 1 }, { key: 'k' })).toMatchObject({
      result: 'duplicate',
    })
  })

  it('is refused with another payload, and nothing changes', async () => {
    const run = await given()
    await run.signal('paid', { sum: 7 }, { key: 'k' })
    const before = await run.history()

    const again = run.signal('paid', { sum: 8 }, { key: 'k' })

    await expect(again).rejects.toMatchObject({ code: 'key_conflict', step: 'paid', runId: run.id })
    await expect(again).rejects.toThrow(
      /Step "paid" of run .* has a signal with key "k" and another payload\. Nothing was recorded\./,
    )
    expect(await run.history()).toEqual(before)
  })
})
