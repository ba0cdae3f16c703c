import { AsyncLocalStorage } from 'node:async_hooks'
import { type Around, define, type Engine, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { errorLog } from './around-hooks.ts'
import { changed, engines } from './bench-of-engines.ts'

const trace = (n: number) => `00-${String(n).padStart(32, '0')}-${'b7ad6b7169203331'}-01`

const workflow = define('traced', { version: 1, input: unchecked<{ n: number }>() }).step('a', {
  run: ({ input }) => input.n,
})

/** A hook that keeps the trace context of each run. */
function keeping(kept: Map<string, string | undefined>): Around {
  return async (attempt, next) => {
    kept.set(attempt.runId, await attempt.traceparent())
    await next()
  }
}

describe('the trace context of a caller', () => {
  it('travels with a run that gives it, as one of its tags', async () => {
    const { clock, worker } = engines()
    const kept = new Map<string, string | undefined>()
    const engine = await worker({ workflows: [workflow], around: [keeping(kept)] })
    const started: unknown[] = []
    engine.on('run.started', ({ tags }) => started.push(tags))

    const run = await engine.run(workflow, { n: 1 }, { tags: ['tenant:7'], traceparent: trace(1) })
    const plain = await engine.run(workflow, { n: 2 })
    await clock.runUntil(Promise.all([run.result(), plain.result()]))

    const tags = ['tenant:7', `traceparent:${trace(1)}`]
    expect((await run.status()).tags).toEqual(tags)
    expect(started).toEqual([tags, []])
    expect(Object.fromEntries(kept)).toEqual({ [run.id]: trace(1), [plain.id]: undefined })
  })

  it('is asked for in the caller’s async context, whichever way it starts runs', async () => {
    const { adapter, engine } = engines()
    const span = new AsyncLocalStorage<string>()
    let calls = 0
    const made = engine({
      workflows: [workflow],
      traceparent: () => {
        calls += 1
        return span.getStore()
      },
    })
    const tagsOf = async (start: () => Promise<{ readonly id: string }>) => {
      const { id } = await span.run(trace(3), start)
      return (await made.runs.get(id))?.tags
    }

    const expected = [`traceparent:${trace(3)}`]
    expect(await tagsOf(() => made.run(workflow, { n: 1 }))).toEqual(expected)
    expect(await tagsOf(() => made.run('traced', { n: 1 }))).toEqual(expected)
    expect(await tagsOf(() => adapter.transaction((tx) => made.run(workflow, { n: 1 }, { tx })))).toEqual(
      expected,
    )
    expect(calls).toBe(3)
    const many = await span.run(trace(3), () =>
      made.runMany(workflow, [{ input: { n: 1 } }, { input: { n: 2 } }]),
    )
    for (const { id } of many) expect((await made.runs.get(id))?.tags).toEqual(expected)
    expect(calls).toBe(4)
    const own = [{ input: { n: 1 }, traceparent: trace(4) }]
    const [given] = await span.run(trace(3), () => made.runMany(workflow, own))
    expect((await given!.status()).tags).toEqual([`traceparent:${trace(4)}`])
    // By a process that does not have the definition.
    const other = engine({ traceparent: () => trace(5) })
    const named = await other.run('traced', { n: 1 })
    expect((await made.runs.get(named.id))?.tags).toEqual([`traceparent:${trace(5)}`])
  })

  it('is no part of what a key compares, and stays that of the first start', async () => {
    const { engine } = engines()
    const made = engine()
    const first = await made.run(workflow, { n: 1 }, { key: 'k', traceparent: trace(1) })

    const again = await made.run(workflow, { n: 1 }, { key: 'k', traceparent: trace(2) })

    expect(again).toMatchObject({ id: first.id, created: false })
    expect((await again.status()).tags).toEqual([`traceparent:${trace(1)}`])
  })

  it('does not count towards the twenty tags', async () => {
    const { engine } = engines()
    const tags = Array.from({ length: 20 }, (_, n) => `t${n}`)
    const run = await engine({ traceparent: () => trace(1) }).run(workflow, { n: 1 }, { tags })
    expect((await run.status()).tags).toHaveLength(21)
  })

  it('is refused in another form if an option gives it', async () => {
    const { engine } = engines()
    const made = engine()
    const [, ...rest] = trace(1).split('-')
    const forbidden = [
      trace(0),
      ['ff', ...rest].join('-'),
      trace(1).replace('b7ad6b7169203331', '0'.repeat(16)),
    ]
    const odd = ['', 'abc', trace(1).toUpperCase(), `${trace(1)}-00`, 7 as never]
    for (const traceparent of [...odd, ...forbidden]) {
      const start = made.run(workflow, { n: 1 }, { traceparent })
      await expect(start).rejects.toMatchObject({ code: 'invalid_option' })
      const many = made.runMany(workflow, [{ input: { n: 1 }, traceparent }])
      await expect(many).rejects.toThrow(/run 0: traceparent must be a W3C traceparent/)
    }
    expect(await made.runs.list()).toEqual([])
    expect(() => engine({ traceparent: 'abc' as never })).toThrow(/traceparent/)
  })

  it.each([
    ['throws', () => expect.fail('no tracer')],
    ['answers with another form', () => 'abc'],
    ['answers with a promise', async () => Promise.reject(new Error('later'))],
  ])('is left out, and that is logged once, if the engine’s function %s', async (_, traceparent) => {
    const { engine } = engines()
    const { errors, logger } = errorLog()
    const made = engine({ logger, traceparent: traceparent as never })

    await made.run(workflow, { n: 1 })
    const run = await made.run(workflow, { n: 2 })

    expect((await run.status()).tags).toEqual([])
    expect(errors).toMatchObject([
      { message: 'The traceparent of createEngine() failed. Runs start without it.' },
    ])
  })

  it('is not taken by starts that are collected: their run has many callers', async () => {
    const { engine } = engines()
    const made = engine({ traceparent: () => trace(1) })
    const batched = define('batched', { version: 1, start: { batch: { max: 30, within: '1m' } } }).step('a', {
      run: () => 1,
    })

    const run = await made.run(batched, 1)

    expect((await run.status()).tags).toEqual([])
    await expect(made.run(batched, 1, { traceparent: trace(2) })).rejects.toThrow(/no single caller/)
  })

  it('is not inherited by children', async () => {
    const { clock, worker } = engines()
    const kept = new Map<string, string | undefined>()
    const parent = define('parent', { version: 1 }).workflow('child', workflow, { input: () => ({ n: 1 }) })
    const engine = await worker({ workflows: [parent], around: [keeping(kept)], traceparent: () => trace(1) })

    await clock.runUntil((await engine.run(parent)).result())

    expect([...kept.values()]).toEqual([undefined])
  })
})

describe('what a hook asks for', () => {
  it('is read once for a run of another process, also by hooks that ask at once, and again after an outage', async () => {
    const { clock, adapter, engine, worker } = engines()
    const run = await engine().run(workflow, { n: 1 }, { traceparent: trace(1) })
    let reads = 0
    const findRun: typeof adapter.findRun = async (...args) => {
      reads += 1
      if (reads === 1) throw new Error('the store is away')
      return adapter.findRun(...args)
    }
    const seen: unknown[] = []
    const around: Around = async (attempt, next) => {
      seen.push(await attempt.traceparent().catch((error: Error) => error.message))
      seen.push(...(await Promise.all([attempt.traceparent(), attempt.traceparent()])))
      await next()
    }
    const made: Engine = await worker({
      adapter: changed(adapter, { findRun }),
      clock,
      workflows: [workflow],
      around: [around, around],
    })

    await clock.runUntil(run.result())
    await clock.runUntil(made.stop())

    expect(seen).toEqual(['the store is away', trace(1), trace(1), trace(1), trace(1), trace(1)])
    expect(reads).toBe(2)
  })

  it('is not read for hooks that do not ask', async () => {
    const { clock, adapter, engine, worker } = engines()
    const run = await engine().run(workflow, { n: 1 }, { traceparent: trace(1) })
    let reads = 0
    const findRun: typeof adapter.findRun = (...args) => {
      reads += 1
      return adapter.findRun(...args)
    }
    const made = await worker({
      ...{ adapter: changed(adapter, { findRun }), clock, workflows: [workflow] },
      around: [(_, next) => next()],
    })

    await clock.runUntil(run.result())
    await clock.runUntil(made.stop())

    expect(reads).toBe(0)
  })

  it('is there in a transactional step too', async () => {
    const { clock, engine, worker } = engines()
    const ledger = define('ledger', { version: 1 }).step('debit', {
      transaction: memoryTransaction(),
      run: () => 1,
    })
    const run = await engine().run(ledger, undefined, { traceparent: trace(1) })
    const kept = new Map<string, string | undefined>()
    await worker({ workflows: [ledger], around: [keeping(kept)] })

    await clock.runUntil(run.result())

    expect([...kept.values()]).toEqual([trace(1)])
  })
})
