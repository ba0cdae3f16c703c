import { define, type RunSnapshot, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const order = define('order', {
  version: 1,
  input: unchecked<{ readonly card: boolean; readonly total: number }>(),
  retry: { attempts: 2, initial: 10, jitter: false },
})

const payment = order
  .choose('method', { on: ({ input }) => (input.card ? 'card' : 'invoice'), cases: ['card', 'invoice'] })
  .step('charge', { when: { method: 'card' }, run: ({ deps }) => `charged by ${deps.method}` })
  .step('invoice', { when: { method: 'invoice' }, run: () => 'invoiced' })
  .step('receipt', { dependsOn: ['charge'], run: ({ deps }) => `receipt: ${deps.charge}` })
  .step('ship', {
    dependsOn: ['charge', 'invoice'],
    onSkipped: 'run',
    run: ({ deps }) => [deps.charge ?? null, deps.invoice ?? null],
  })

function skips(run: RunSnapshot | undefined): Record<string, unknown> {
  return Object.fromEntries(
    (run?.steps ?? []).flatMap(({ name, skip }) => (skip === undefined ? [] : [[name, skip]])),
  )
}

describe('a choice', () => {
  it('runs the steps of its case, skips the others with their dependents, and goes on where the branches meet', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })

    const run = await engine.run(payment, { card: false, total: 1 })
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({
      method: 'invoice',
      charge: undefined,
      invoice: 'invoiced',
      receipt: undefined,
      ship: [null, 'invoiced'],
    })
    expect(skips(await run.status())).toEqual({
      charge: { because: 'case', choice: 'method', case: 'invoice' },
      receipt: { because: 'dependency', dependency: 'charge' },
    })
  })

  it('gives its case to the steps that run with it', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })

    const run = await engine.run(payment, { card: true, total: 1 })

    expect(await clock.runUntil(run.result())).toMatchObject({
      charge: 'charged by card',
      receipt: 'receipt: charged by card',
      ship: ['charged by card', null],
    })
  })

  it('that returns none of its cases fails at once', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const wrong = order.choose('method', {
      on: () => {
        calls += 1
        return 'cash' as 'card'
      },
      cases: ['card'],
    })
    const engine = await worker({ workflows: [wrong] })

    const run = await engine.run(wrong, { card: true, total: 1 })
    await clock.runUntil(run.result().catch(() => {}))

    const { steps } = await run.status()
    expect(calls).toBe(1)
    expect(steps[0]!.error?.message).toMatch(
      /^What on of step "method" of run .* returned is "cash", and must be one of its cases: card\.$/,
    )
  })

  it('that is skipped skips the steps of its cases, even those that run without a dependency', async () => {
    const { clock, worker } = engines()
    const skipped = order
      .choose('method', { when: () => false, on: () => 'card', cases: ['card'] })
      .step('charge', { when: { method: 'card' }, onSkipped: 'run', run: () => 1 })
    const engine = await worker({ workflows: [skipped] })

    const run = await engine.run(skipped, { card: true, total: 1 })
    await clock.runUntil(run.result())

    expect(skips(await run.status())).toEqual({
      method: { because: 'when' },
      charge: { because: 'dependency', dependency: 'method' },
    })
  })
})

describe('a when', () => {
  it('decides with the input and the outputs of dependencies, once, whatever the handler does', async () => {
    const { clock, worker } = engines()
    const asked: unknown[] = []
    let calls = 0
    const workflow = order.step('load', { run: () => ({ total: 5 }) }).step('review', {
      dependsOn: ['load'],
      when: (context) => {
        asked.push(context)
        return context.deps.load.total > context.input.total
      },
      run: ({ attempt }) => {
        calls += 1
        if (calls === 1) throw new Error('once')
        return attempt
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { card: true, total: 1 })

    expect(await clock.runUntil(run.result())).toEqual({ load: { total: 5 }, review: 2 })
    expect(asked).toEqual([
      { runId: run.id, step: 'review', input: { card: true, total: 1 }, deps: { load: { total: 5 } } },
    ])
  })

  it('skips every kind of step, without calling what it would have called', async () => {
    const { clock, worker } = engines()
    const never = () => {
      throw new Error('called')
    }
    const workflow = order
      .step('work', { when: () => false, run: never })
      .step('written', { when: async () => false, transaction: true, run: never })
      .sleep('nap', { when: () => false, for: never })
      .waitForSignal('signal', { when: () => false })
      .approval('approval', { when: () => false })
      .poll('poll', { when: () => false, every: '1s', until: never })
      .choose('choice', { when: () => false, on: never, cases: ['a'] })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { card: true, total: 1 })
    const result = await clock.runUntil(run.result())

    const names = ['work', 'written', 'nap', 'signal', 'approval', 'poll', 'choice']
    expect(result).toEqual(Object.fromEntries(names.map((name) => [name, undefined])))
    expect(Object.values(statuses(await run.status()))).toEqual(names.map(() => 'skipped'))
  })

  it('lets every kind of step run', async () => {
    const { clock, worker } = engines()
    const workflow = order
      .step('work', { when: () => true, run: () => 1 })
      .step('written', { when: async () => true, transaction: true, run: () => 2 })
      .sleep('nap', { when: () => true, for: '1s' })
      .waitForSignal('signal', { when: () => true, timeout: '1s', onTimeout: { output: 3 } })
      .poll('poll', { when: () => true, every: '1s', until: () => 4 })
      .choose('choice', { when: () => true, on: () => 'a', cases: ['a'] })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { card: true, total: 1 })

    expect(await clock.runUntil(run.result())).toEqual({
      ...{ work: 1, written: 2, nap: undefined, signal: 3, poll: 4, choice: 'a' },
    })
  })

  it('that throws is asked again by the policy of its step, and then fails the run; nothing is undone', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    let asked = 0
    const workflow = order.step('work', {
      when: () => {
        asked += 1
        throw new Error('no answer')
      },
      run: () => 1,
      compensate: ({ step }) => undone.push(step),
      compensateOn: 'started',
    })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { card: true, total: 1 })
    await clock.runUntil(run.result().catch(() => {}))

    expect(asked).toBe(2)
    expect((await run.status()).status).toBe('failed')
    expect(undone).toEqual([])
  })

  it('that returns neither true nor false fails its step at once', async () => {
    const { clock, worker } = engines()
    const workflow = order.step('work', { when: () => 1 as unknown as boolean, run: () => 1 })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, { card: true, total: 1 })
    await clock.runUntil(run.result().catch(() => {}))

    const [step] = (await run.status()).steps
    expect(step).toMatchObject({ status: 'failed', attempts: 1 })
    expect(step!.error?.message).toMatch(
      /^What when of step "work" of run .* returned is 1, and must be true or false\.$/,
    )
  })
})

describe('a skipped step', () => {
  it('is told to listeners with its reason, and no handler of it begins', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [payment] })
    const told: unknown[] = []
    const started: string[] = []
    engine.on('step.skipped', ({ step, reason }) => told.push([step, reason]))
    engine.on('step.started', ({ step }) => started.push(step))

    const run = await engine.run(payment, { card: true, total: 1 })
    await clock.runUntil(run.result())

    expect(told).toEqual([['invoice', { because: 'case', choice: 'method', case: 'card' }]])
    expect(started.sort()).toEqual(['charge', 'method', 'receipt', 'ship'])
  })

  it('is explained, also after the end', async () => {
    const { clock, worker } = engines()
    const workflow = order
      .step('review', { when: () => false, run: () => 1 })
      .step('report', { dependsOn: ['review'], run: () => 2 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, { card: true, total: 1 })
    await clock.runUntil(run.result())

    expect((await run.explain()).skipped).toEqual([
      { step: 'review', sentence: '"review" was skipped: its when() was false.' },
      { step: 'report', sentence: '"report" was skipped because "review" was skipped.' },
    ])
  })

  it('owes no undo, and keeps the order between its neighbours', async () => {
    const { clock, worker } = engines()
    const undone: string[] = []
    const compensate = ({ step }: { step: string }) => undone.push(step)
    const workflow = order
      .step('first', { run: () => 1, compensate })
      .step('between', { dependsOn: ['first'], when: () => false, run: () => 2, compensate })
      .step('last', { dependsOn: ['between'], onSkipped: 'run', run: () => 3, compensate })
      .step('fails', {
        dependsOn: ['last'],
        retry: false,
        run: () => {
          throw new Error('no')
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, { card: true, total: 1 })
    await clock.runUntil(run.result().catch(() => {}))

    expect(undone).toEqual(['last', 'first'])
    expect(statuses(await run.status())).toMatchObject({ between: 'skipped', first: 'compensated' })
  })

  it('by an operator lets its dependents run, although its definition may skip it', async () => {
    const { clock, worker } = engines()
    const workflow = order
      .waitForSignal('review', { when: () => true, schema: unchecked<number>() })
      .step('report', { dependsOn: ['review'], run: ({ deps }) => deps.review })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, { card: true, total: 1 })
    await clock.advance('1s')

    await run.skipStep('review', { output: 7 })

    expect(await clock.runUntil(run.result())).toEqual({ review: 7, report: 7 })
    expect(skips(await run.status())).toEqual({ review: { because: 'operator' } })
  })
})
