import { BelayError, define, PermanentError, type StepContext } from '@belay/workflow'
import { type NewValue, StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { changed, engines, gate } from './bench-of-engines.ts'

/** A workflow of one step. */
function told(run: (context: StepContext) => unknown) {
  return define('told', { version: 1 }).step('import', { retry: { attempts: 1 }, run })
}

/** An engine on a store that counts the calls which publish. */
async function counted(run: (context: StepContext) => unknown, options = {}) {
  const { clock, adapter, worker, sleep } = engines()
  const calls: (readonly NewValue[])[] = []
  const counting = changed(adapter, {
    publish: (request) => {
      calls.push(request.values)
      return adapter.publish(request)
    },
  })
  const workflow = told(run)
  const engine = await worker({ adapter: counting, workflows: [workflow], ...options })
  return { clock, adapter, engine, workflow, calls, sleep }
}

describe('what a step tells', () => {
  it('is in the run before the step has ended, and stays there', async () => {
    const { passed, open } = gate()
    const { clock, engine, workflow } = await counted(async ({ publish, progress }) => {
      await progress(1, 10, 'rows')
      await publish('preview', { url: '/p/1' })
      await passed
      return 'done'
    })
    const run = await engine.run(workflow)
    await clock.advance('1s')

    expect(await run.values()).toEqual({ preview: { url: '/p/1' } })
    const snapshot = await run.status()
    expect(snapshot.values).toEqual({ preview: { url: '/p/1' } })
    expect(snapshot.steps[0]!.progress).toMatchObject({ done: 1, total: 10, note: 'rows' })
    expect((await run.explain()).steps[0]!.sentence).toContain(', and has done 1 of 10 (rows)')

    open()
    expect(await clock.runUntil(run.result())).toEqual({ import: 'done' })
    expect((await engine.runs.get(run))!.values).toEqual({ preview: { url: '/p/1' } })
  })

  it('costs few calls, however often it is told: the latest of each key, four times a second', async () => {
    const { clock, engine, workflow, calls, sleep } = await counted(async ({ publish, progress }) => {
      for (let done = 1; done <= 1_000; done += 1) {
        await progress(done, 1_000)
        await publish('row', done)
        if (done % 100 === 0) await sleep(100)
      }
    })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result())

    expect(calls.length).toBeLessThanOrEqual(6)
    expect(Math.max(...calls.map(({ length }) => length))).toBe(2)
    expect(await run.values()).toEqual({ row: 1_000 })
  })

  it('costs nothing if a step tells nothing', async () => {
    const { clock, engine, workflow, calls } = await counted(() => 'done')
    await clock.runUntil((await engine.run(workflow)).result())

    expect(calls).toEqual([])
  })

  it('shares a call with what other steps of the worker tell', async () => {
    const { clock, engine, workflow, calls } = await counted(({ runId, publish }) => publish('id', runId))
    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 20 }, () => ({ input: undefined })),
    )
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(calls.length).toBeLessThan(5)
    expect(await runs[19]!.values()).toEqual({ id: runs[19]!.id })
  })

  it('is stored before the outcome of its step, also if the handler fails', async () => {
    const order: string[] = []
    const { clock, adapter, worker } = engines()
    const noting = changed(adapter, {
      publish: async (request) => {
        const results = await adapter.publish(request)
        order.push('published')
        return results
      },
      settle: (request) => {
        order.push(`settled ${request.outcomes.map(({ type }) => type)}`)
        return adapter.settle(request)
      },
    })
    const workflow = told(async ({ publish }) => {
      await publish('k', 1)
      throw new PermanentError('no')
    })
    const engine = await worker({ adapter: noting, workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect(order).toEqual(['published', 'settled failed'])
    expect(await run.values()).toEqual({ k: 1 })
  })

  it('survives an outage: the call is sent again, and the step is settled afterwards', async () => {
    const { clock, adapter, worker } = engines()
    let failures = 0
    const failing = changed(adapter, {
      publish: async (request) => {
        failures += 1
        // The second call takes effect, but its answer is lost.
        if (failures === 2) await adapter.publish(request)
        if (failures <= 3) throw new StoreUnavailableError('gone')
        return adapter.publish(request)
      },
    })
    const workflow = told(({ publish }) => publish('k', 'v'))
    const engine = await worker({ adapter: failing, workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result())

    expect(failures).toBe(4)
    expect(await run.values()).toEqual({ k: 'v' })
  })

  it('fails its step if the store has too many keys of the run, and the error names the limit and the remedy', async () => {
    const { clock, adapter, worker } = engines()
    const undone: unknown[] = []
    const workflow = define('keys', { version: 1 })
      .step('one', { run: ({ publish }) => publish('a', 1) })
      .step('two', {
        dependsOn: ['one'],
        run: async ({ publish }) => {
          await publish('b', 1)
          await publish('c', 1)
        },
        compensate: ({ step }) => undone.push(step),
      })
    const engine = await worker({ adapter, workflows: [workflow], valuesMax: 2 })
    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(error).toMatchObject({ code: 'run_failed', step: 'two' })
    expect(String(error)).toMatch(/Value "c" .*a run may have 2 keys\..*valuesMax/)
    // The handler had returned, so its effect is there and is undone.
    expect(undone).toEqual(['two'])
    expect(await run.values()).toEqual({ a: 1, b: 1 })
  })

  it('is refused at once if it can never be stored', async () => {
    const errors: unknown[] = []
    const { clock, engine, workflow } = await counted(
      async ({ publish, progress }) => {
        const refused = async (tell: () => Promise<void>) => {
          await tell().catch((error: unknown) => errors.push(error))
        }
        await refused(() => publish('', 1))
        await refused(() => publish('big', 'x'.repeat(100)))
        await refused(() => publish('odd', 1n))
        await refused(() => progress(Number.NaN))
        await refused(() => progress(1, -1))
        await publish('one', 1)
        await refused(() => publish('two', 2))
        // Nobody awaits it: that must not end the process.
        publish('odd', 1n)
        return 'done'
      },
      { valueMaxBytes: 50, valuesMax: 1 },
    )
    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ import: 'done' })
    expect(errors.map((error) => (BelayError.is(error) ? error.code : error))).toEqual([
      'invalid_option',
      'payload_too_large',
      'payload_unserialisable',
      'invalid_option',
      'invalid_option',
      'too_many_values',
    ])
    expect(String(errors[1])).toMatch(/is 102 bytes as JSON; the limit is 50.*valueMaxBytes/)
    expect(await run.values()).toEqual({ one: 1 })
  })

  it('is refused once the handler has ended or its worker has lost the step', async () => {
    const { passed, open } = gate()
    const { clock, adapter, engine, worker } = engines()
    const late: unknown[] = []
    const contexts: StepContext[] = []
    const workflow = told(async (context) => {
      contexts.push(context)
      if (contexts.length === 1) {
        await passed
        await context.publish('k', 'of the frozen worker').catch((error: unknown) => late.push(error))
        await clock.advance(0)
        await context.publish('k', 'again').catch((error: unknown) => late.push(error))
      } else await context.publish('k', 'of the second worker')
    })
    // The first worker's engine stands still: it renews nothing, but its handler goes on.
    let isFrozen = false
    const renewing = changed(adapter, {
      renew: (renewal) => (isFrozen ? new Promise<never>(() => {}) : adapter.renew(renewal)),
    })
    const first = await worker({ adapter: renewing, workflows: [workflow], lease: '1s' })
    const run = await first.run(workflow)
    await clock.advance(100)
    isFrozen = true
    await worker({ workflows: [workflow], lease: '1s' })
    await clock.runUntil(engine().runs.handle(run.id).result())

    open()
    await clock.advance('1s')
    await contexts[1]!.publish('k', 'after its end').catch((error: unknown) => late.push(error))

    expect(late.length).toBeGreaterThan(0)
    for (const error of late) expect(error).toMatchObject({ code: 'attempt_ended', runId: run.id })
    expect(await run.values()).toEqual({ k: 'of the second worker' })
  })

  it('can be told by an undo, and then replaces what the step told', async () => {
    const { clock, worker } = engines()
    const workflow = define('undone', { version: 1 })
      .step('import', {
        run: async ({ publish, progress }) => {
          await progress(10)
          await publish('state', 'imported')
        },
        compensate: async ({ publish, progress }) => {
          await progress(5, 10, 'removed')
          await publish('state', 'removed')
        },
      })
      .step('fail', {
        dependsOn: ['import'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect(await run.values()).toEqual({ state: 'removed' })
    expect((await run.status()).steps[0]!.progress).toMatchObject({ done: 5, total: 10, note: 'removed' })
  })

  it('commits with a transactional step, and is gone if that rolls back', async () => {
    const { clock, worker } = engines()
    let tries = 0
    const workflow = define('within', { version: 1 }).step('book', {
      transaction: memoryTransaction(),
      retry: { attempts: 2, backoff: 'constant', initial: '1s' },
      run: async ({ publish, progress }) => {
        tries += 1
        await publish(`try ${tries}`, tries)
        await progress(tries)
        if (tries === 1) throw new Error('this time')
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance(500)
    expect(await run.values()).toEqual({})
    await clock.runUntil(run.result())

    expect(await run.values()).toEqual({ 'try 2': 2 })
    expect((await run.status()).steps[0]!.progress).toMatchObject({ done: 2 })
  })

  it('fails a transactional step that the store cannot store it for, with nothing committed', async () => {
    const { clock, worker } = engines()
    const workflow = define('within', { version: 1 })
      .step('one', { run: ({ publish }) => publish('a', 1) })
      .step('book', {
        dependsOn: ['one'],
        transaction: memoryTransaction(),
        run: ({ publish }) => publish('b', 1),
      })
    const engine = await worker({ workflows: [workflow], valuesMax: 1 })
    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch((failure: unknown) => failure))

    expect(String(error)).toContain('a run may have 1 key.')
    expect(await run.values()).toEqual({ a: 1 })
  })

  it('is an event, once it is stored', async () => {
    const { clock, engine, workflow } = await counted(async ({ publish, progress }) => {
      await publish('k', 1)
      await progress(1)
    })
    const heard: unknown[] = []
    engine.on('step.published', ({ step, key }) => heard.push([step, key]))
    await clock.runUntil((await engine.run(workflow)).result())

    expect(heard).toEqual([
      ['import', 'k'],
      ['import', undefined],
    ])
  })
})
