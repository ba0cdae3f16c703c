import { BelayError, define, defineGraph, LimitReachedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const customer = unchecked<{ customer: string }>()

/** One run for each customer; a further one is refused. */
function imports(sleep: (ms: number) => Promise<unknown>) {
  return define('import', {
    version: 1,
    input: customer,
    concurrency: { limit: 1, key: ({ input }) => input.customer, atLimit: 'refuse' },
  }).step('load', { run: () => sleep(1_000).then(() => 'loaded') })
}

const refusal = (error: unknown) => error as LimitReachedError

describe('a workflow with atLimit refuse', () => {
  it('refuses a start while its key has no slot, and starts nothing', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })

    const first = await engine.run(workflow, { customer: 'acme' })
    const refused = refusal(await engine.run(workflow, { customer: 'acme' }).catch((error) => error))
    const other = await engine.run(workflow, { customer: 'bell' })

    expect(refused).toBeInstanceOf(LimitReachedError)
    expect(BelayError.is(refused)).toBe(true)
    expect(refused).toMatchObject({ code: 'limit_reached', limit: 'import', key: 'acme', concurrency: 1 })
    expect(refused.message).toContain('No run of workflow "import" was started')
    expect(await engine.runs.count()).toMatchObject({ count: 2 })
    for (const run of [first, other]) expect(await clock.runUntil(run.result())).toEqual({ load: 'loaded' })
    const next = await engine.run(workflow, { customer: 'acme' })
    expect(await clock.runUntil(next.result())).toEqual({ load: 'loaded' })
    expect(await engine.limits.get('import')).toMatchObject({ inUse: 0, waiting: 0 })
  })

  it('counts a run that is scheduled, and frees the slot when it is cancelled', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })
    const later = await engine.run(workflow, { customer: 'acme' }, { delay: '1h' })
    await expect(engine.run(workflow, { customer: 'acme' })).rejects.toBeInstanceOf(LimitReachedError)

    await later.cancel()
    await clock.runUntil(later.result().catch(() => {}))

    await engine.run(workflow, { customer: 'acme' })
  })

  it('answers a start with a known key, whether or not there is a slot', async () => {
    const { worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow, { customer: 'acme' }, { key: 'order 7' })

    const again = await engine.run(workflow, { customer: 'acme' }, { key: 'order 7' })

    expect(again).toMatchObject({ id: first.id, created: false })
  })

  it('starts those of many runs that have slots, and throws for the first that has none', async () => {
    const { worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })
    const runs = ['acme', 'acme', 'bell'].map((name) => ({ input: { customer: name } }))

    await expect(engine.runMany(workflow, runs)).rejects.toMatchObject({ code: 'limit_reached', key: 'acme' })

    expect(await engine.runs.count()).toMatchObject({ count: 2 })
  })

  it('refuses in a transaction too, which may go on', async () => {
    const { adapter, worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })

    await adapter.transaction(async (tx) => {
      await engine.run(workflow, { customer: 'acme' }, { tx })
      await expect(engine.run(workflow, { customer: 'acme' }, { tx })).rejects.toMatchObject({
        code: 'limit_reached',
      })
    })

    expect(await engine.runs.count()).toMatchObject({ count: 1 })
  })

  it('fails the step whose child is refused, without retries', async () => {
    const { clock, worker, sleep } = engines()
    const child = imports(sleep)
    const parent = define('parent', { version: 1, input: customer }).workflow('import', child, {
      input: ({ input }) => input,
    })
    const engine = await worker({ workflows: [child, parent] })
    await engine.run(child, { customer: 'acme' })

    const run = await engine.run(parent, { customer: 'acme' })

    await expect(clock.runUntil(run.result())).rejects.toThrow('limit "import" has no slot')
  })

  it('lets a retried run wait for its slot', async () => {
    const { clock, worker, sleep } = engines()
    let fails = true
    const workflow = define('fragile', { version: 1, concurrency: { limit: 1, atLimit: 'refuse' } }).step(
      'a',
      {
        retry: false,
        run: async () => {
          await sleep(1_000)
          if (fails) throw new Error('broken')
          return 1
        },
      },
    )
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow)
    await clock.runUntil(first.result().catch(() => {}))
    fails = false
    const second = await engine.run(workflow)

    await first.retry()
    await clock.advance(10)

    expect(await engine.limits.get('fragile')).toMatchObject({ inUse: 1, waiting: 1 })
    expect(await clock.runUntil(Promise.all([first.result(), second.result()]))).toEqual([{ a: 1 }, { a: 1 }])
  })

  it('is started by name only where its definition is', async () => {
    const { worker, engine: open, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })
    expect(await engine.run('import', { customer: 'acme' })).toMatchObject({ created: true })
    await expect(engine.run('import', { customer: 'acme' })).rejects.toMatchObject({ code: 'limit_reached' })

    await expect(open().run('import', { customer: 'bell' })).rejects.toMatchObject({
      code: 'unknown_workflow',
      message: expect.stringContaining('starts of workflow "import" are refused at a limit'),
    })
  })

  it('is refused in a schedule', async () => {
    const { worker, sleep } = engines()
    const workflow = imports(sleep)
    const engine = await worker({ workflows: [workflow] })

    await expect(
      engine.schedules.put('nightly', { cron: '0 3 * * *', workflow, input: { customer: 'acme' } }),
    ).rejects.toMatchObject({ message: expect.stringContaining('has no caller to tell') })
  })

  it('refuses a key that is none, and passes on what the function throws', async () => {
    const { engine: open } = engines()
    for (const key of [() => 7 as never, () => '', () => Promise.reject(new Error('broken')), () => 'a\0b']) {
      const workflow = define('keyed', {
        version: 1,
        concurrency: { limit: 1, key, atLimit: 'refuse' },
      }).step('a', {
        run: () => 1,
      })
      await expect(open().run(workflow)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('the key of limit "keyed" of workflow "keyed"'),
      })
    }
  })

  it('works in a graph, whose key is the name of a handler', async () => {
    const { clock, worker, sleep } = engines()
    const graph = {
      concurrency: { limit: 1, key: 'customerOf', atLimit: 'refuse' },
      steps: { a: { handler: 'work' } },
      dag: {},
    } as const
    const workflow = defineGraph('graph', { ...graph, input: customer }, {
      customerOf: ({ input }: { input: { customer: string } }) => input.customer,
      work: () => sleep(1_000).then(() => 'done'),
    } as never)
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow, { customer: 'acme' })

    await expect(engine.run(workflow, { customer: 'acme' })).rejects.toMatchObject({ code: 'limit_reached' })

    expect(await clock.runUntil(first.result())).toEqual({ a: 'done' })
  })
})

describe('define()', () => {
  it('refuses atLimit refuse for a step, and together with start', () => {
    expect(() =>
      define('w', { version: 1 }).step('a', {
        when: () => true,
        concurrency: { limit: 1, atLimit: 'refuse' as 'skip' },
        run: () => 1,
      }),
    ).toThrow(
      "concurrency.atLimit is 'refuse', which is for runs: give it to the concurrency of the workflow",
    )
    expect(() =>
      define('w', {
        version: 1,
        input: customer,
        start: { debounce: '1s', key: 'customer' },
        concurrency: { limit: 1, atLimit: 'refuse' },
      }),
    ).toThrow('Remove start')
  })
})
