import { define, defineGraph, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const order = define('order', {
  version: 1,
  input: unchecked<{ readonly declined: boolean; readonly broken?: boolean }>(),
  retry: false,
})

const payment = order
  .step('charge', {
    onFailure: 'continue',
    run: ({ input }) => {
      if (input.declined) throw new PermanentError('The card was declined.')
      return { id: 'c1' }
    },
    compensate: ({ output }) => void undone.push(output.id),
  })
  .step('receipt', {
    when: { charge: 'completed' },
    run: ({ deps }) => `receipt of ${deps.charge.output.id}`,
  })
  .step('invoice', {
    when: { charge: 'failed' },
    run: ({ deps }) => `invoiced: ${deps.charge.error.message}`,
  })
  .step('ship', {
    dependsOn: ['charge', 'receipt', 'invoice'],
    onSkipped: 'run',
    run: ({ deps, input }) => {
      if (input.broken) throw new PermanentError('No lorry.')
      return [deps.charge.status, deps.receipt ?? null, deps.invoice ?? null]
    },
  })

const undone: string[] = []
const DECLINED = expect.objectContaining({
  name: 'PermanentError',
  code: 'permanent',
  message: 'The card was declined.',
})

describe('a step past whose failure its run continues', () => {
  it('gives its error to its dependents, and lets the step run that is meant for it', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })

    const run = await engine.run(payment, { declined: true })
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({
      charge: { status: 'failed', error: DECLINED },
      receipt: undefined,
      invoice: 'invoiced: The card was declined.',
      ship: ['failed', null, 'invoiced: The card was declined.'],
    })
    expect(await clock.runUntil(run.step('charge'))).toEqual({ status: 'failed', error: DECLINED })
    expect(await run.explain()).toMatchObject({
      skipped: [{ step: 'receipt', sentence: '"receipt" was skipped because "charge" failed.' }],
      continued: [
        {
          step: 'charge',
          sentence: '"charge" failed (PermanentError: The card was declined.), and the run continued.',
        },
      ],
    })
    expect((await run.status()).steps.find(({ name }) => name === 'receipt')!.skip).toEqual({
      ...{ because: 'outcome', dependency: 'charge', outcome: 'failed' },
    })
  })

  it('gives its output to its dependents if it completes', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })

    const run = await engine.run(payment, { declined: false })

    expect(await clock.runUntil(run.result())).toEqual({
      charge: { status: 'completed', output: { id: 'c1' } },
      receipt: 'receipt of c1',
      invoice: undefined,
      ship: ['completed', 'receipt of c1', null],
    })
    expect((await run.explain()).continued).toEqual([])
  })

  it('gives the same to an engine that has neither run nor defined it', async () => {
    const { clock, worker, engine } = engines()
    await worker({ workflows: [payment] })
    const run = await engine({}).run(payment, { declined: true })

    const stranger = engine({}).runs.handle(run.id)

    expect(await clock.runUntil(stranger.result())).toMatchObject({ charge: { status: 'failed' } })
  })

  it('and that completed is undone with its own output when the run stops', async () => {
    undone.length = 0
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })

    const run = await engine.run(payment, { declined: false, broken: true })
    await clock.runUntil(run.result().catch(() => {}))

    expect(undone).toEqual(['c1'])
  })

  it('is told as failed, and that the run goes on', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })
    const told: boolean[] = []
    engine.on('step.failed', ({ continues }) => void told.push(continues))

    await clock.runUntil((await engine.run(payment, { declined: true })).result())
    await clock.runUntil(
      (await engine.run(payment, { declined: false, broken: true })).result().catch(() => {}),
    )

    expect(told).toEqual([true, false])
  })

  it('and whose output cannot be stored is a failure too, whose effect is undone when the run stops', async () => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const lossy = order
      .step('big', {
        onFailure: 'continue',
        run: () => 'x'.repeat(2_000),
        compensate: ({ error }) => void seen.push(error?.code),
      })
      .step('next', {
        dependsOn: ['big'],
        run: ({ deps }) => {
          seen.push(deps.big.status)
          throw new PermanentError('stop')
        },
      })
    const engine = await worker({ workflows: [lossy], payloadMaxBytes: 1_000 })

    const run = await engine.run(lossy, { declined: false })
    await clock.runUntil(run.result().catch(() => {}))

    expect(seen).toEqual(['failed', 'payload_too_large'])
    expect(await run.status()).toMatchObject({ status: 'compensated' })
  })

  it('also if it depends on nothing but its operators: a stand-in counts as completed', async () => {
    const { clock, worker, engine } = engines()
    const run = await engine({}).run(payment, { declined: true })

    await run.skipStep('charge', { output: { id: 'by hand' } })
    await worker({ workflows: [payment] })

    expect(await clock.runUntil(run.result())).toMatchObject({
      charge: { status: 'completed', output: { id: 'by hand' } },
      receipt: 'receipt of by hand',
    })
  })
})

describe('a wait past whose failure its run continues', () => {
  it('is a rejected approval, where "no" is an answer', async () => {
    const { clock, worker } = engines()
    const claim = order
      .approval('manager', { onFailure: 'continue' })
      .step('pay', { when: { manager: 'completed' }, run: ({ deps }) => deps.manager.output.by })
      .step('decline', { when: { manager: 'failed' }, run: ({ deps }) => deps.manager.error.code })
    const engine = await worker({ workflows: [claim] })
    const run = await engine.run(claim, { declined: false })

    await clock.runUntil(run.reject('manager', { by: 'Ada' }))

    expect(await clock.runUntil(run.result())).toMatchObject({ pay: undefined, decline: 'approval_rejected' })
  })

  it('is a signal that timed out, and one that came', async () => {
    const { clock, worker } = engines()
    const parcel = order
      .waitForSignal('delivered', {
        timeout: '10s',
        onFailure: 'continue',
        schema: unchecked<{ at: string }>(),
      })
      .step('close', { dependsOn: ['delivered'], run: ({ deps }) => deps.delivered })
    const engine = await worker({ workflows: [parcel] })
    const [late, inTime] = [
      await engine.run(parcel, { declined: false }),
      await engine.run(parcel, { declined: false }),
    ]

    await clock.runUntil(inTime.signal('delivered', { at: 'home' }))

    expect(await clock.runUntil(inTime.result())).toMatchObject({
      close: { status: 'completed', output: { at: 'home' } },
    })
    const { close } = await clock.runUntil(late.result(), { limit: '1m' })
    expect(close).toMatchObject({ status: 'failed', error: { code: 'signal_timeout' } })
  })
})

it('an operator retries such a step after the end, and what was told of its failure runs anew', async () => {
  const { clock, worker } = engines()
  let declined = true
  const calls: string[] = []
  const shop = define('shop', { version: 1, retry: false })
    .step('charge', {
      onFailure: 'continue',
      run: ({ idempotencyKey }) => {
        calls.push(idempotencyKey)
        if (declined) throw new PermanentError('declined')
      },
    })
    .step('note', { dependsOn: ['charge'], run: ({ deps }) => deps.charge.status })
    .step('ship', {
      dependsOn: ['note'],
      run: () => {
        if (declined) throw new PermanentError('no lorry')
      },
    })
  const engine = await worker({ workflows: [shop] })
  const run = await engine.run(shop, null)
  await clock.runUntil(run.result().catch(() => {}))
  expect(statuses(await run.status())).toEqual({ charge: 'failed', note: 'completed', ship: 'failed' })
  declined = false

  await run.retryStep('charge')

  expect(await clock.runUntil(run.result())).toMatchObject({
    charge: { status: 'completed' },
    note: 'completed',
  })
  expect(calls).toEqual([`${run.id}:charge`, `${run.id}:charge`])
})

it('a graph as data says so, and names how a step ended', async () => {
  const { clock, worker } = engines()
  const graph = defineGraph(
    'as-data',
    {
      retries: 0,
      steps: {
        charge: { handler: 'charge', onFailure: 'continue' },
        wait: { signal: true, timeout: '1s', onFailure: 'continue' },
        invoice: { handler: 'invoice', when: { charge: 'failed', wait: 'failed' } },
      },
      dag: {},
    },
    {
      charge: () => {
        throw new Error('declined')
      },
      invoice: () => 'invoiced',
    },
  )
  const engine = await worker({ workflows: [graph] })

  const run = await engine.run(graph, null)

  expect(await clock.runUntil(run.result())).toMatchObject({ invoice: 'invoiced' })
  expect(graph.toMermaid()).toContain('|"failed"|')
})
