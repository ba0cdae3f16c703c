import { define, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, test, vi } from 'vitest'
import { testWorkflow } from '../../src/index.ts'

const order = define('order', { version: 1, input: unchecked<{ items: string[] }>() })
  .step('reserve', {
    run: ({ input }) => ({ id: 'r-1', count: input.items.length }),
    compensate: () => {},
  })
  .step('charge', {
    dependsOn: ['reserve'],
    retry: { attempts: 4, backoff: 'exponential', initial: '1s', max: '1m' },
    run: async ({ deps }) => ({ charged: deps.reserve.count * 10 }),
    compensate: () => {},
  })
  .map('pack', {
    dependsOn: ['charge'],
    over: ({ input }) => input.items,
    run: ({ item }) => `packed ${item}`,
    compensate: () => {},
  })
  .waitForSignal('shipped', { dependsOn: ['pack'], schema: unchecked<{ code: string }>(), timeout: '7d' })
  .approval('review', { dependsOn: ['shipped'] })
  .step('thank', { dependsOn: ['review'], run: () => 'thanked' })

const input = { items: ['a', 'b'] }

describe('testWorkflow', () => {
  test('runs a workflow to its end, with signals, and tells what ran in which order', async () => {
    const tested = testWorkflow(order, { input })
    await tested.signal('shipped', { code: 'x' })
    await tested.approve('review', { by: 'kim' })

    const outputs = await tested.run()

    expect(outputs.charge).toEqual({ charged: 20 })
    expect(outputs.pack).toEqual(['packed a', 'packed b'])
    expect(tested.effects).toEqual(['reserve', 'charge', 'pack[0]', 'pack[1]', 'thank'])
    expect(tested.clock.now()).toBe(Date.UTC(2025, 0, 1))
    await tested.close()
    expect(tested.clock.pending).toBe(0)
  })

  test('a failed step is undone, and run() rejects like result()', async () => {
    const tested = testWorkflow(order, { input })
    tested.fail('pack[1]')

    const { status } = await tested.end()

    expect(status).toBe('compensated')
    expect(tested.effects).toEqual([
      ...['reserve', 'charge', 'pack[0]'],
      ...['undo pack[0]', 'undo charge', 'undo reserve'],
    ])
    await expect(tested.run()).rejects.toBeInstanceOf(RunFailedError)
  })

  test('failing twice lets a step be retried, at the instants that its policy says', async () => {
    const tested = testWorkflow(order, { input, engine: { random: () => 1 } })
    tested.fail('charge', new Error('busy'), { times: 2 })
    await tested.advance('10s')

    const calls = tested.calls.filter(({ step }) => step === 'charge')
    expect(calls.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'threw'],
      [2, 'threw'],
      [3, 'returned'],
    ])
    expect(calls.map(({ at }) => at.getTime() - Date.UTC(2025, 0, 1))).toEqual([0, 1_000, 3_000])
  })

  test('a worker that dies after an effect leaves the step to another worker, which does it again', async () => {
    const tested = testWorkflow(order, { input })
    tested.crash('charge')
    await tested.advance('2m')

    const { status, steps } = await tested.status()

    expect(tested.effects).toEqual(['reserve', 'charge', 'charge', 'pack[0]', 'pack[1]'])
    expect(steps.find(({ name }) => name === 'charge')).toMatchObject({ losses: 1, failures: 0, attempts: 2 })
    expect(status).toBe('waiting')
    expect(tested.calls.find(({ step }) => step === 'charge')).toMatchObject({
      outcome: 'crashed',
      tookEffect: true,
    })
  })

  test('a worker that dies before an effect, in every attempt, poisons the step', async () => {
    const tested = testWorkflow(order, { input })
    tested.crash('charge', { before: true, times: 10 })

    await expect(tested.run()).rejects.toMatchObject({ cause: { code: 'worker_lost' } })
    expect(tested.effects).toEqual(['reserve', 'undo reserve'])
  })

  test('a stub replaces a handler, and its output is typed', async () => {
    const tested = testWorkflow(order, { input })
    tested.stub('pack', async ({ step }) => `stubbed ${step}`)
    // @ts-expect-error The output of "reserve" has an id.
    tested.stub('reserve', () => ({ count: 7 }))
    tested.stub('reserve', () => ({ id: 'stubbed', count: 7 }))
    await tested.signal('shipped', { code: 'x' })
    await tested.approve('review', { by: 'kim' })

    const outputs = await tested.run()

    expect(outputs.charge).toEqual({ charged: 70 })
    expect(outputs.pack).toEqual(['stubbed pack[0]', 'stubbed pack[1]'])
  })

  test('a run that waits for what no time brings is explained, at once', async () => {
    const tested = testWorkflow(order, { input })
    await tested.signal('shipped', { code: 'x' })

    await expect(tested.run()).rejects.toThrow(/waits for something that no time brings.*review/)
  })

  test('a signal that never comes times out after a week', async () => {
    const tested = testWorkflow(order, { input })

    await expect(tested.run()).rejects.toMatchObject({ cause: { code: 'signal_timeout' } })
    expect(tested.clock.now()).toBe(Date.UTC(2025, 0, 8))
  })

  test('a compensation that fails parks the undo', async () => {
    const tested = testWorkflow(order, { input })
    tested.fail('pack')
    tested.failUndo('charge')

    const { status } = await tested.end()

    expect(status).toBe('compensation_failed')
    expect(tested.effects).toEqual(['reserve', 'charge'])
  })

  test('a run that is parked after its pivot has an end', async () => {
    const pivoting = define('pivoting', { version: 1 })
      .step('pay', { pivot: true, run: () => 'paid' })
      .step('send', { dependsOn: ['pay'], run: () => 'sent' })
    const tested = testWorkflow(pivoting)
    tested.fail('send')

    expect((await tested.end()).status).toBe('parked')
  })

  test('children are tested with their parent, and can be replaced', async () => {
    const ship = define('ship', { version: 1 })
      .step('label', { run: () => 'label', compensate: () => {} })
      .step('send', { dependsOn: ['label'], run: () => 'sent', compensate: () => {} })
    const parent = define('parent', { version: 1 })
      .step('pay', { run: () => 'paid', compensate: () => {} })
      .workflow('shipping', ship, { dependsOn: ['pay'] })
    const failing = testWorkflow(parent)
    failing.fail('ship/send')
    const faked = testWorkflow(parent, {
      workflows: [
        define('ship', { version: 1 })
          .step('label', { run: () => 'fake', compensate: () => {} })
          .step('send', { dependsOn: ['label'], run: () => 'fake', compensate: () => {} }),
      ],
    })

    await failing.end()
    const outputs = await faked.run()

    expect(failing.effects).toEqual(['pay', 'ship/label', 'undo ship/label', 'undo pay'])
    expect(outputs.shipping).toMatchObject({ label: 'fake', send: 'fake' })
  })

  test('rounds of a loop have names of their own', async () => {
    const looping = define('looping', { version: 1 }).repeat('fetch', {
      run: ({ round }) => round,
      until: ({ output }) => output === 3,
      compensate: () => {},
    })
    const tested = testWorkflow(looping)
    tested.fail('fetch[3]')

    await tested.end()

    expect(tested.effects).toEqual(['fetch[1]', 'fetch[2]', 'undo fetch[2]', 'undo fetch[1]'])
  })

  test('handlers may do real work: virtual time waits for them', async () => {
    const working = define('working', { version: 1 }).step('work', {
      timeout: '10ms',
      run: async () => {
        // As many turns of the event loop as reading a file may take.
        for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        return 'done'
      },
    })

    expect(await testWorkflow(working).run()).toEqual({ work: 'done' })
  })

  test('a framework’s fake timers do not stop virtual time', async () => {
    vi.useFakeTimers()
    try {
      const tested = testWorkflow(order, { input })
      await expect(tested.run()).rejects.toMatchObject({ cause: { code: 'signal_timeout' } })
    } finally {
      vi.useRealTimers()
    }
  })

  test('options are checked when they are given', () => {
    const tested = testWorkflow(order, { input })

    expect(() => tested.fail('charge', undefined, { times: 0 })).toThrow(/fail\(\).*times/)
    // @ts-expect-error There is no such option.
    expect(() => tested.crash('charge', { after: true })).toThrow(/crash\(\).*after/)
  })

  test('an unknown step is refused, with the names of those that there are', () => {
    const tested = testWorkflow(order, { input })

    // @ts-expect-error There is no such step.
    expect(() => tested.fail('chrage')).toThrow(/no step "chrage". Its steps are reserve, charge, pack/)
    expect(() => tested.fail('charge[1]')).toThrow(/no step "charge\[1\]"/)
    // @ts-expect-error The input is required.
    expect(() => testWorkflow(order, { inptu: 1 })).toThrow(/inptu/)
  })
})
