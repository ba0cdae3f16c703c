import { define, PermanentError, unchecked } from '@belay/workflow'
import { afterEach, describe, expect, it } from 'vitest'
import { AskerBench } from './bench.ts'

let opened: AskerBench | undefined
const bench = async (...workflows: readonly unknown[]) => {
  opened = await new AskerBench().open(workflows)
  return opened
}
afterEach(async () => {
  await opened?.close()
  opened = undefined
})

const order = { version: 1, input: unchecked<{ readonly total: number }>() }

describe('an attempt on the new engine', () => {
  it('has the input, the outputs of its dependencies and its own key', async () => {
    const keys: string[] = []
    const flow = define('flow', order)
      .step('charge', {
        run({ input, idempotencyKey }) {
          keys.push(idempotencyKey)
          return { paid: input.total }
        },
      })
      .step('ship', {
        dependsOn: ['charge'],
        run: ({ deps, attempt }) => ({ shipped: deps.charge.paid + 1, attempt }),
      })
    const given = await bench(flow)

    const run = await given.start(flow, { total: 41 })
    await given.ended(run)

    expect(await given.outputs(run)).toEqual({ charge: { paid: 41 }, ship: { shipped: 42, attempt: 1 } })
    expect(keys).toEqual([expect.stringContaining(run)])
    expect(given.told).toEqual(['started charge', 'completed charge', 'started ship', 'completed ship'])
  })

  it('is repeated by its policy, and fails for good after that', async () => {
    const attempts: number[] = []
    const flow = define('flow', order)
      .step('a', { run: () => 1, compensate: ({ output, cause }) => void undone.push([output, cause.type]) })
      .step('b', {
        dependsOn: ['a'],
        retry: { attempts: 3, backoff: 'constant', initial: '1s' },
        run: ({ attempt }) => {
          attempts.push(attempt)
          throw new Error('no')
        },
      })
    const undone: unknown[] = []
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.ended(run, 'compensated')

    expect(attempts).toEqual([1, 2, 3])
    expect(undone).toEqual([[1, 'step_failed']])
    expect(await given.cause(run)).toMatchObject({
      type: 'step_failed',
      step: 'b',
      attempt: 3,
      error: { message: 'no' },
    })
    expect(given.told.filter((each) => each.endsWith(' b'))).toEqual([
      ...['started b', 'retrying b', 'started b', 'retrying b', 'started b', 'failed b'],
    ])
  })

  it('ends with its timeout, and its signal says why', async () => {
    let reason: unknown
    const flow = define('flow', order).step('a', {
      timeout: '2s',
      retry: { attempts: 1 },
      run: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(signal.reason)
          })
        }),
    })
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.ended(run, 'failed')

    expect(reason).toMatchObject({ code: 'step_timeout' })
    expect(await given.cause(run)).toMatchObject({ error: { code: 'step_timeout' } })
  })

  it('fails for good if JSON has no text for its output, and is undone', async () => {
    const undone: string[] = []
    const flow = define('flow', order).step('a', {
      run: () => new Map() as unknown as string,
      compensate: ({ undoOf }) => void undone.push(undoOf),
      retry: { attempts: 5 },
    })
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.ended(run, 'compensated')

    expect(undone).toHaveLength(1)
    expect(await given.cause(run)).toMatchObject({ error: { code: 'payload_unserialisable' } })
  })

  it('does not begin if the lease is over when its payloads are there', async () => {
    let isFrozen = false
    let thaw = () => {}
    const called: number[] = []
    const flow = define('flow', order).step('a', {
      retry: { attempts: 2, initial: 100, max: 100 },
      run({ attempt }) {
        called.push(attempt)
        if (attempt === 1) throw new Error('not at first')
      },
    })
    const made = await bench(flow)
    const { store, clock } = made
    const { payloads, renew } = store
    Object.assign(store, {
      payloads: async (wanted: Parameters<typeof payloads>[0]) => {
        const found = await payloads(wanted)
        isFrozen = true
        await new Promise<void>((resolve) => {
          thaw = resolve
        })
        return found
      },
      renew: (...given: Parameters<typeof renew>) =>
        isFrozen ? Promise.reject(new Error('cut off')) : renew(...given),
    })

    await made.start(flow)
    await clock.advance(500)
    expect(isFrozen).toBe(true)
    await clock.advance(20_000)
    thaw()
    await clock.advance(0)
    const between = [...called]
    Object.assign(store, { payloads, renew })
    await clock.advance(20_000)

    expect([between, called]).toEqual([[1], [1, 3]])
  })
})

describe('branches and waits on the new engine', () => {
  it('run what a choice and a condition say', async () => {
    const flow = define('flow', order)
      .choose('how', { cases: ['card', 'cash'], on: ({ input }) => (input.total > 10 ? 'card' : 'cash') })
      .step('card', { dependsOn: ['how'], when: { how: 'card' }, run: () => 'by card' })
      .step('cash', { dependsOn: ['how'], when: { how: 'cash' }, run: () => 'by cash' })
      .step('gift', { when: ({ input }) => input.total > 100, run: () => 'gift' })
      .step('end', { dependsOn: ['card', 'cash', 'gift'], onSkipped: 'run', run: ({ deps }) => deps })
    const given = await bench(flow)

    const run = await given.start(flow, { total: 20 })
    await given.ended(run)

    expect(await given.outputs(run)).toMatchObject({ how: 'card', card: 'by card', end: { card: 'by card' } })
  })

  it('sleep, poll, and wait for signals and approvals', async () => {
    let polls = 0
    const flow = define('flow', order)
      .sleep('night', { for: '1h' })
      .poll('ready', { dependsOn: ['night'], every: '10s', until: () => (++polls < 3 ? null : { polls }) })
      .waitForSignal('paid', { dependsOn: ['ready'], schema: unchecked<{ readonly by: string }>() })
      .approval('ok', { dependsOn: ['paid'] })
      .step('end', { dependsOn: ['paid', 'ok'], run: ({ deps }) => deps.paid.by })
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.clock.advance('2h')
    await given.send(run, { type: 'mail', path: ['paid'], mail: {} }, { by: 'ada' })
    await given.send(run, { type: 'mail', path: ['ok'], mail: {} }, { approved: true, by: 'bob', at: 'now' })
    await given.ended(run)

    expect(await given.outputs(run)).toMatchObject({ ready: { polls: 3 }, paid: { by: 'ada' }, end: 'ada' })
  })

  it('fail when their time is over, or with a rejection, or take the stand-in', async () => {
    const flow = define('flow', order)
      .waitForSignal('late', {
        schema: unchecked<string>(),
        timeout: '5s',
        onTimeout: { output: 'stand-in' },
      })
      .waitForSignal('never', { dependsOn: ['late'], schema: unchecked(), timeout: '5s' })
    const rejected = define('rejected', order).approval('ok', {})
    const given = await bench(flow, rejected)

    const run = await given.start(flow)
    const other = await given.start(rejected)
    await given.clock.advance('1s')
    const decision = { approved: false, by: 'bob', at: 'noon', comment: 'too dear' }
    await given.send(other, { type: 'mail', path: ['ok'], mail: { reject: true } }, decision)
    await given.ended(run, 'failed')
    await given.ended(other, 'failed')

    expect(await given.outputs(run)).toMatchObject({ late: 'stand-in' })
    expect(await given.cause(run)).toMatchObject({ step: 'never', error: { code: 'signal_timeout' } })
    expect(await given.cause(other)).toMatchObject({
      error: { code: 'approval_rejected', message: expect.stringContaining('by bob at noon: too dear') },
    })
  })
})

describe('maps, loops and children on the new engine', () => {
  it('run items with their keys, and gather their outputs', async () => {
    const flow = define('flow', order)
      .step('list', { run: () => ['x', 'y', 'z'] })
      .map('pack', {
        dependsOn: ['list'],
        over: ({ deps }) => deps.list,
        itemKey: (item) => `k-${item}`,
        concurrency: 2,
        run: ({ item, itemKey, index }) => `${itemKey}:${item}:${index}`,
      })
      .step('end', { dependsOn: ['pack'], run: ({ deps }) => deps.pack.join() })
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.ended(run)

    expect((await given.outputs(run))['end']).toBe('k-x:x:0,k-y:y:1,k-z:z:2')
  })

  it('undo the items of a map that fails, each with what it had', async () => {
    const undone: string[] = []
    const flow = define('flow', order).map('pack', {
      over: () => ['x', 'y'],
      run: ({ item }) => {
        if (item === 'y') throw new PermanentError('no')
        return `packed ${item}`
      },
      compensate: ({ item, output }) => void undone.push(`${item} ${String(output)}`),
      concurrency: 1,
    })
    const given = await bench(flow)

    const run = await given.start(flow)
    await given.ended(run, 'compensated')

    expect(undone).toEqual(['x packed x'])
    expect(await given.cause(run)).toMatchObject({ step: 'pack[1]', error: { message: 'no' } })
  })

  it('collect failures of items, and fail if too few are good', async () => {
    const make = (name: string, minSuccess: number) =>
      define(name, order).map('pack', {
        over: () => ['x', 'y'],
        onFailure: 'collect',
        minSuccess,
        run: ({ item }) => {
          if (item === 'y') throw new PermanentError('no')
          return item
        },
      })
    const good = make('good', 1)
    const bad = make('bad', 2)
    const given = await bench(good, bad)

    const run = await given.start(good)
    const other = await given.start(bad)
    await given.ended(run)
    await given.ended(other, 'failed')

    expect((await given.outputs(run))['pack']).toEqual([
      { status: 'completed', output: 'x' },
      { status: 'failed', error: expect.objectContaining({ message: 'no' }) },
    ])
    expect(await given.cause(other)).toMatchObject({
      step: 'pack',
      error: { message: expect.stringContaining('minSuccess') },
    })
  })

  it('go round until a loop has done, each round with what the last one gave', async () => {
    const flow = define('flow', order).repeat('page', {
      first: ({ input }) => input.total,
      run: ({ last, round }) => (last ?? 0) + round,
      until: ({ output }) => output >= 16,
      max: 10,
      delay: '1s',
    })
    const given = await bench(flow)

    const run = await given.start(flow, { total: 10 })
    await given.ended(run)

    expect(await given.outputs(run)).toEqual({ page: 16 })
  })

  it('a child gets its input, and its parent its outputs; its failure is told with its name', async () => {
    const child = define('child', { version: 1, input: unchecked<{ readonly n: number }>() }).step('double', {
      run: ({ input }) => {
        if (input.n < 0) throw new PermanentError('negative')
        return input.n * 2
      },
    })
    const parent = define('parent', order)
      .workflow('sub', child, { input: ({ input }) => ({ n: input.total }) })
      .step('end', { dependsOn: ['sub'], run: ({ deps }) => deps.sub.double })
    const given = await bench(child, parent)

    const run = await given.start(parent, { total: 21 })
    const other = await given.start(parent, { total: -1 })
    await given.ended(run)
    await given.ended(other, 'compensated')

    expect((await given.outputs(run))['end']).toBe(42)
    expect(await given.cause(other)).toMatchObject({
      ...{ step: 'sub', attempt: 1 },
      error: {
        code: 'child_failed',
        message: expect.stringContaining('of "child", ended as failed: step "double" failed: negative'),
      },
    })
  })
})
