import { define, defineGraph, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines, statuses } from './bench-of-engines.ts'

const PATIENT = { tick: '1m', lease: '1d' } as const

const shipment = define('order', { version: 1 })
  .step('pay', { run: () => 'paid', compensate: () => {} })
  .waitForSignal('shipped', {
    dependsOn: ['pay'],
    schema: z.object({ tracking: z.string(), pieces: z.coerce.number().default(1) }),
    timeout: '7d',
  })
  .step('tell', {
    dependsOn: ['shipped'],
    run: ({ deps }) => `${deps.shipped.tracking} ${deps.shipped.pieces}`,
  })

describe('a step that waits for a signal', () => {
  it('completes at once, with the payload as its schema returns it', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [shipment] })
    const run = await engine.run(shipment)
    await clock.advance('1m')
    expect((await run.status()).status).toBe('waiting')
    const signalledAt = clock.now()

    const receipt = await run.signal('shipped', { tracking: 'T1', pieces: '2' }, { key: 'hook-1' })
    const result = await clock.runUntil(run.result())

    expect(receipt).toEqual({
      runId: run.id,
      step: 'shipped',
      key: 'hook-1',
      result: 'delivered',
      reason: undefined,
      checked: true,
    })
    expect(result).toMatchObject({ shipped: { tracking: 'T1', pieces: 2 }, tell: 'T1 2' })
    expect(clock.now() - signalledAt).toBeLessThan(50)
  })

  it('is woken in another process by a signal from a process that only has the definition', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { steps, dag } = {
      steps: { pay: { handler: 'pay' }, shipped: { signal: true } },
      dag: { shipped: ['pay'] },
    } as const
    await worker({ workflows: [defineGraph('graph', { steps, dag }, { pay: () => 1 })] })
    const web = engine({ workflows: [defineGraph('graph', { steps, dag })], adapter: adapter.connect() })
    const run = await web.run(defineGraph('graph', { steps, dag }), undefined, { key: 'o1' })
    await clock.advance('1s')
    const sentAt = clock.now()

    await web.signal({ workflow: 'graph', key: 'o1' }, 'shipped', [1, 2])
    const result = await clock.runUntil(web.runs.handle(run.id).result())

    expect(result).toEqual({ pay: 1, shipped: [1, 2] })
    // A hint woke it at once; the watching process looks only once a tick.
    const ended = (await run.status()).finishedAt!
    expect(Number(ended) - sentAt).toBeLessThan(50)
  })

  it('takes a signal that came before the step waited, or before the run began', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('early', { version: 1 })
      .step('slow', { run: () => sleep(10_000) })
      .waitForSignal('go', { dependsOn: ['slow'] })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    const receipt = await run.signal('go', { n: 0 })
    const result = await clock.runUntil(run.result())

    expect(receipt.result).toBe('kept')
    expect(result).toMatchObject({ go: { n: 0 } })
  })

  it.each([undefined, null, 0, false, ''])('takes %j as a payload', async (payload) => {
    const { clock, worker } = engines()
    const workflow = define('any', { version: 1 }).waitForSignal('go')
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await run.signal('go', payload)
    expect(await clock.runUntil(run.result())).toEqual({ go: payload })
  })

  it('gets a signal once, however often and by whomever it is sent with the same key', async () => {
    const { clock, engine, worker } = engines()
    const first = await worker({ workflows: [shipment] })
    const other = engine({ workflows: [shipment] })
    const run = await first.run(shipment, undefined, { key: 'o1' })
    await clock.advance('1s')
    const target = { workflow: shipment, key: 'o1' }

    const receipts = [
      await run.signal('shipped', { tracking: 'T1' }, { key: 'k' }),
      await run.signal('shipped', { tracking: 'T1' }, { key: 'k' }),
      await other.signal(target, 'shipped', { tracking: 'T1' }, { key: 'k' }),
      await other.signal(run.id, 'shipped', { tracking: 'T4' }),
    ]

    expect(receipts.map(({ result, reason }) => [result, reason])).toEqual([
      ['delivered', undefined],
      ['duplicate', undefined],
      ['duplicate', undefined],
      ['ignored', 'signalled'],
    ])
    expect(await clock.runUntil(run.result())).toMatchObject({ tell: 'T1 1' })
  })

  it('fails for good when its time is over, and the run is undone', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [shipment], ...PATIENT })
    const startedAt = clock.now()
    const run = await engine.run(shipment)

    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(RunFailedError.is(error) && error).toMatchObject({
      status: 'compensated',
      reason: { type: 'step_failed', step: 'shipped', attempt: 1, error: { code: 'signal_timeout' } },
    })
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(7 * 86_400_000)
    expect(statuses(await run.status())).toEqual({ pay: 'compensated', shipped: 'failed', tell: 'cancelled' })
    const late = await run.signal('shipped', { tracking: 'T' })
    expect(late).toMatchObject({ result: 'ignored', reason: 'run_over' })
  })

  it.each([
    ['a value', { output: 'none came' }],
    ['a function', ({ deps }: { deps: { a: number } }) => `none came after ${deps.a}`],
    ['an async function', async () => 'none came'],
  ] as const)('completes with a stand-in from %s when its time is over', async (_, onTimeout) => {
    const { clock, worker } = engines()
    const workflow = define('stand-in', { version: 1 })
      .step('a', { run: () => 1 })
      .waitForSignal('go', {
        dependsOn: ['a'],
        schema: unchecked<number>(),
        timeout: '1m',
        onTimeout: onTimeout as () => string,
      })
      .step('after', { dependsOn: ['go'], run: ({ deps }) => deps.go })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    expect((await clock.runUntil(run.result())).after).toMatch(/^none came/)
    expect((await run.status()).status).toBe('completed')
  })

  it('keeps its timeout after a process died in the middle', async () => {
    const { clock, worker } = engines()
    const first = await worker({ workflows: [shipment] })
    const run = await first.run(shipment)
    await clock.advance('1s')
    await clock.runUntil(first.stop({ timeout: 0 }))
    await clock.advance('8d')
    const second = await worker({ workflows: [shipment] })
    await clock.runUntil(
      second.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
      { limit: '10s' },
    )
    expect((await run.status()).cause).toMatchObject({ error: { code: 'signal_timeout' } })
  })
})

describe('a signal that cannot be taken', () => {
  const workflow = define('picky', { version: 1 })
    .step('work', { run: () => 1 })
    .waitForSignal('shipped', { schema: z.object({ tracking: z.string() }) })
    .approval('review')
    .sleep('rest', { for: '1d' })

  async function given() {
    const { clock, engine, worker } = engines()
    const made = await worker({ workflows: [workflow] })
    const run = await made.run(workflow)
    await clock.advance('1s')
    const handle = made.runs.handle(run.id)
    return { clock, engine, made, run, handle }
  }

  it.each([
    [
      'a step that does not exist',
      'shiped',
      /has no step "shiped".*Did you mean "shipped"\? These do: shipped\./,
    ],
    [
      'a step with a handler',
      'work',
      /has a step "work" that does not wait for a signal\. These do: shipped\./,
    ],
    ['a step that sleeps', 'rest', /has a step "rest" that does not wait for a signal/],
    [
      'an approval',
      'review',
      /has a step "review" that waits for an approval: use approve\(\) or reject\(\)/,
    ],
  ])('for %s is refused, with the nearest name and the steps that take signals', async (_, name, message) => {
    const { handle } = await given()
    const sending = handle.signal(name, {})
    await expect(sending).rejects.toMatchObject({ code: 'invalid_option', step: name })
    await expect(sending).rejects.toThrow(message)
  })

  it('is refused if it is a decision, but the step waits for a signal', async () => {
    const { handle } = await given()
    await expect(handle.approve('shipped', { by: 'ann' })).rejects.toThrow(
      /waits for a signal: use signal\(\)/,
    )
  })

  it('is refused before anything is recorded if its payload is not valid', async () => {
    const { run, handle } = await given()
    const before = await run.status()
    const sending = handle.signal('shipped', { tracking: 7 }, { key: 'k' })
    await expect(sending).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(sending).rejects.toThrow(
      /The payload for step "shipped" of workflow "picky" is not valid: tracking: .*Nothing was recorded\./,
    )
    expect(await run.status()).toEqual(before)
    expect(await handle.signal('shipped', { tracking: 'T' }, { key: 'k' })).toMatchObject({
      result: 'delivered',
    })
  })

  it('is refused if its payload cannot be stored or is too large', async () => {
    const { engine } = engines()
    const any = define('any', { version: 1 }).waitForSignal('go')
    const made = engine({ workflows: [any], payloadMaxBytes: 20 })
    const run = await made.run(any)
    await expect(run.signal('go', 7n)).rejects.toMatchObject({ code: 'payload_unserialisable', step: 'go' })
    await expect(run.signal('go', 'x'.repeat(30))).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  it('is refused for a run that does not exist', async () => {
    const { made } = await given()
    const sending = made.signal('01920000-0000-7000-8000-000000000000', 'shipped', { tracking: 'T' })
    await expect(sending).rejects.toMatchObject({ code: 'unknown_run' })
    await expect(made.signal('nonsense', 'shipped', {})).rejects.toThrow('signal(): the run must be a run id')
    await expect(made.signal({ workflow, key: 'k' }, 'shipped', { tracking: 'T' })).rejects.toThrow(
      'There is no run of workflow "picky" with key "k"',
    )
  })

  it('is also refused for a step that takes none if only the store has the definition', async () => {
    const { engine, run } = await given()
    const stranger = engine()
    await expect(stranger.signal(run.id, 'shiped', {})).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('Did you mean "shipped"?'),
    })
    await expect(stranger.approve(run.id, 'shipped', { by: 'ann' })).rejects.toMatchObject({
      code: 'invalid_option',
    })
  })

  it('is checked by the version that its run follows', async () => {
    const { clock, engine, run } = await given()
    await clock.advance('1s')
    const renamed = define('picky', { version: 2 }).waitForSignal('delivered')
    const made = engine({ workflows: [renamed, workflow] })
    await expect(made.signal(run.id, 'delivered', {})).rejects.toThrow(/version 1 has no step "delivered"/)
    expect(await made.signal(run.id, 'shipped', { tracking: 'T' })).toMatchObject({ result: 'delivered' })
  })

  it.each([
    ['an empty key', { key: '' }, 'signal(): key must be a string of 1 to 512 characters'],
    ['a key with NUL', { key: 'a\0' }, 'without NUL'],
    ['an unknown option', { kee: 'k' }, 'signal() has no option "kee". Did you mean "key"?'],
  ])('is refused for %s', async (_, options, message) => {
    const { handle } = await given()
    const sending = handle.signal('shipped', { tracking: 'T' }, options as never)
    await expect(sending).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(sending).rejects.toThrow(message)
  })

  it('to an ended run does nothing, and says so', async () => {
    const { clock, handle } = await given()
    await handle.cancel()
    await clock.runUntil(handle.result().catch(() => {}))
    const receipt = await handle.signal('shipped', { tracking: 'T' })
    expect(receipt).toMatchObject({ result: 'ignored', reason: 'run_over' })
  })
})

describe('a signal to a run whose descendant waits for it', () => {
  it('is refused with the run that has such a step', async () => {
    const { clock, worker } = engines()
    const inner = define('inner', { version: 1 }).waitForSignal('paid')
    const middle = define('middle', { version: 1 }).workflow('inner', inner, { input: () => undefined })
    const outer = define('outer', { version: 1 }).workflow('middle', middle, { input: () => undefined })
    const engine = await worker({ workflows: [outer] })
    const run = await engine.run(outer)
    await clock.advance('10s')
    const [child] = await engine.runs.list({ workflow: 'inner' })

    const sending = engine.runs.handle(run.id).signal('paid', 1)

    await expect(sending).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(
        `Its child, run ${child!.id} of "inner", has such a step "paid": send it`,
      ),
    })
    await expect(engine.runs.handle(run.id).signal('unpaid', 1)).rejects.toMatchObject({
      message: expect.not.stringContaining('Its child'),
    })
  })
})
