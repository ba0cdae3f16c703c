import { AsyncLocalStorage } from 'node:async_hooks'
import { type Around, define, type HandledAttempt, PermanentError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { errorLog, NO_RETRY, noting, one } from './around-hooks.ts'
import { engines } from './bench-of-engines.ts'

const TWICE = { retry: { attempts: 2, initial: '1s', jitter: false } } as const

describe('hooks around handlers', () => {
  it('run in their order around the handler, before and after it', async () => {
    const { clock, worker } = engines()
    const notes: unknown[] = []
    const workflow = one(() => {
      notes.push('handler')
      return 'secret'
    })
    const engine = await worker({
      workflows: [workflow],
      around: [noting(notes, 'outer'), noting(notes, 'inner')],
    })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'secret' })
    expect(notes).toEqual([
      'outer before forward a 1',
      'inner before forward a 1',
      'handler',
      // Not the output: it is private.
      'inner after a: undefined',
      'outer after a: undefined',
    ])
  })

  it('see each attempt with its number and its key, forward and in the undo', async () => {
    const { clock, worker } = engines()
    const seen: HandledAttempt[] = []
    let undos = 0
    const workflow = define('trip', { version: 7 })
      .step('a', {
        ...TWICE,
        run: ({ attempt }) => {
          if (attempt === 1) throw new Error('once more')
        },
        compensate: {
          ...TWICE,
          run: () => {
            undos += 1
            if (undos === 1) throw new Error('undo once more')
          },
        },
      })
      .step('b', {
        dependsOn: ['a'],
        run: () => {
          throw new PermanentError('for good')
        },
      })
    const engine = await worker({
      workflows: [workflow],
      around: [
        (attempt, next) => {
          seen.push(attempt)
          return next()
        },
      ],
    })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    const of = { workflow: 'trip', version: 7, runId: run.id }
    const key = `${run.id}:a`
    expect(seen).toMatchObject([
      { ...of, step: 'a', direction: 'forward', attempt: 1, idempotencyKey: key },
      { ...of, step: 'a', direction: 'forward', attempt: 2, idempotencyKey: key },
      { ...of, step: 'b', direction: 'forward', attempt: 1, partOf: undefined, index: undefined },
      { ...of, step: 'a', direction: 'undo', attempt: 1, idempotencyKey: `${key}:undo` },
      { ...of, step: 'a', direction: 'undo', attempt: 2, idempotencyKey: `${key}:undo` },
    ])
    expect(Object.keys(seen[0]!)).not.toContain('input')
  })

  it('surround items, rounds, choices and polls, and no other functions', async () => {
    const { clock, worker } = engines()
    const seen: string[] = []
    let polls = 0
    const child = define('child', { version: 1 }).step('c', { run: () => 1 })
    const workflow = define('all', { version: 1 })
      .step('quiet', { when: () => false, run: () => 1 })
      .map('items', { over: () => ['x', 'y'], itemKey: (item) => `k-${item}`, run: () => 1 })
      .repeat('loop', { run: () => 1, until: ({ round }) => round === 2 })
      .choose('way', { on: () => 'left' as const, cases: ['left', 'right'] })
      .poll('poll', {
        every: '1s',
        until: () => {
          polls += 1
          return polls === 2 ? 'there' : null
        },
      })
      .sleep('sleep', { for: () => '1s' })
      .workflow('sub', child, { input: () => undefined as never })
    const engine = await worker({
      workflows: [workflow],
      around: [
        ({ step, partOf, itemKey, index, round }, next) => {
          seen.push([step, partOf, itemKey, index, round].filter((part) => part !== undefined).join(' '))
          return next()
        },
      ],
    })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result())

    expect(seen.sort()).toEqual([
      'c',
      'items[k-x] items k-x 0',
      'items[k-y] items k-y 1',
      'loop[1] loop 1',
      'loop[2] loop 2',
      'poll',
      'poll',
      'way',
    ])
  })

  it('surround transactional steps and their undos', async () => {
    const { clock, worker } = engines()
    const notes: unknown[] = []
    const workflow = define('ledger', { version: 1 })
      .step('debit', {
        transaction: memoryTransaction(),
        run: ({ tx }) => {
          tx.client.onCommit(() => notes.push('committed'))
        },
        compensate: { transaction: memoryTransaction(), run: () => {} },
      })
      .step('b', { ...NO_RETRY, dependsOn: ['debit'], run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow], around: [noting(notes)] })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).status).toBe('compensated')
    expect(notes.slice(0, 3)).toEqual([
      'hook before forward debit 1',
      'hook after debit: undefined',
      'committed',
    ])
    expect(notes.slice(-2)).toEqual(['hook before undo debit 1', 'hook after debit: undefined'])
  })

  it('give the handler their async context', async () => {
    const { clock, worker } = engines()
    const span = new AsyncLocalStorage<string>()
    const workflow = one(async () => {
      await null
      return span.getStore()
    })
    const within =
      (name: string): Around =>
      ({ step }, next) =>
        span.run(`${span.getStore() ?? ''}/${name} of ${step}`, next)
    const engine = await worker({ workflows: [workflow], around: [within('outer'), within('inner')] })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: '/outer of a/inner of a' })
  })

  it('get the very error of the handler, and cannot swallow it', async () => {
    const { clock, worker } = engines()
    const { errors, logger } = errorLog()
    for (const fail of [(error: Error) => Promise.reject(error), (error: Error) => throwIt(error)]) {
      const thrown = new PermanentError('of the handler')
      const seen: unknown[] = []
      const workflow = one(() => fail(thrown))
      const swallow: Around = (_, next) => next().catch((error) => void seen.push(error))
      const engine = await worker({ workflows: [workflow], logger, around: [swallow, noting(seen)] })

      const run = await engine.run(workflow)
      const failed = await clock.runUntil(run.result().catch((error: unknown) => error))
      await clock.runUntil(engine.stop())

      expect(failed).toBeInstanceOf(RunFailedError)
      expect((failed as RunFailedError).message).toContain('of the handler')
      expect(seen[1]).toBe(thrown)
      expect(seen[2]).toBe(thrown)
    }
    expect(errors.filter(({ message }) => /around/.test(String(message)))).toEqual([])
  })

  it('that fail are logged with their place and name, and change nothing', async () => {
    const { clock, worker } = engines()
    const { errors, logger } = errorLog()
    const own = [0, 1, 2, 3].map((n) => new Error(`of hook ${n}`))
    const calls: number[] = []
    const workflow = one(() => {
      calls.push(1)
      return 'output'
    })
    const engine = await worker({
      workflows: [workflow],
      logger,
      around: [
        function early() {
          throw own[0]
        },
        async () => {
          await null
          throw own[1]
        },
        async function late(_, next) {
          await next()
          throw own[2]
        },
        (_, next) => {
          void next()
          throw own[3]
        },
      ],
    })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'output' })
    expect(calls).toHaveLength(1)
    const of = { runId: run.id, workflow: 'one', version: 3, step: 'a', direction: 'forward', attempt: 1 }
    const before = 'An around hook failed before it called next(). The handler runs without it.'
    const after = 'An around hook failed. That changes nothing for its step.'
    expect(errors).toEqual([
      { message: before, hook: 'around[0] (early)', ...of, error: own[0] },
      { message: before, hook: 'around[1]', ...of, error: own[1] },
      { message: after, hook: 'around[3]', ...of, error: own[3] },
      { message: after, hook: 'around[2] (late)', ...of, error: own[2] },
    ])
  })

  it('that throw another error than the handler are logged, and the handler’s counts', async () => {
    const { clock, worker } = engines()
    const { errors, logger } = errorLog()
    const workflow = one(() => throwIt(new PermanentError('of the handler')))
    const wrap: Around = (_, next) =>
      next().catch((cause) => {
        throw new Error('wrapped', { cause })
      })
    const engine = await worker({ workflows: [workflow], logger, around: [wrap] })

    const run = await engine.run(workflow)
    const failed = await clock.runUntil(run.result().catch((error: unknown) => error))

    expect(String(failed)).toContain('of the handler')
    expect(String(failed)).not.toContain('wrapped')
    expect(errors.map(({ hook }) => hook)).toContain('around[0] (wrap)')
  })

  it('that never call next() are told so, and the handler runs nevertheless', async () => {
    const { clock, worker } = engines()
    const { errors, logger } = errorLog()
    const span = new AsyncLocalStorage<string>()
    const workflow = one(() => span.getStore())
    const engine = await worker({
      workflows: [workflow],
      logger,
      around: [(_, next) => span.run('outer', next), () => {}, async () => {}, () => 'nothing'],
    })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'outer' })
    expect(errors.map(({ hook }) => hook)).toEqual(['around[1]', 'around[2]', 'around[3]'])
    expect(errors[0]!['message']).toBe(
      'An around hook ended without calling next(). The handler runs without it.',
    )
  })

  it('that call next() twice run the handler once', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const promises: unknown[] = []
    const workflow = one(async () => {
      calls += 1
    })
    const twice: Around = async (_, next) => {
      promises.push(next(), next())
      await promises[0]
      promises.push(next())
    }
    const engine = await worker({ workflows: [workflow], around: [twice, noting([])] })

    await clock.runUntil((await engine.run(workflow)).result())

    expect(calls).toBe(1)
    expect(new Set(promises).size).toBe(1)
  })

  it('may begin with something asynchronous', async () => {
    const { clock, worker, sleep } = engines()
    const { errors, logger } = errorLog()
    const notes: unknown[] = []
    const slow: Around = async (_, next) => {
      await sleep(500)
      return next()
    }
    let isBroken = true
    const workflow = define('one', { version: 1 }).step('a', {
      ...TWICE,
      run: () => {
        if (!isBroken) return Promise.resolve('well')
        isBroken = false
        throw new Error('once')
      },
    })
    const engine = await worker({ workflows: [workflow], logger, around: [slow, noting(notes)] })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'well' })
    expect(notes.filter((note) => typeof note === 'string')).toEqual([
      'hook before forward a 1',
      'hook before forward a 2',
      'hook after a: undefined',
    ])
    expect(errors).toEqual([])
  })

  it('do not begin a query twice that a handler returns', async () => {
    const { clock, worker } = engines()
    let sent = 0
    const query: PromiseLike<string> = {
      // biome-ignore lint/suspicious/noThenProperty: as query builders have it
      then(...ends) {
        sent += 1
        return Promise.resolve('rows').then(...ends)
      },
    }
    const workflow = one(() => query)
    const engine = await worker({ workflows: [workflow], around: [noting([]), noting([])] })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'rows' })
    expect(sent).toBe(1)
  })
})

describe('the option around', () => {
  it('takes an array of functions', async () => {
    const { engine } = engines()
    expect(() => engine({ around: (() => {}) as never })).toThrow(/around/)
    expect(() => engine({ around: [() => {}, 5 as never] })).toThrow(/5 at index 1/)
    expect(() => engine({ around: [] })).not.toThrow()
  })
})

function throwIt(error: Error): never {
  throw error
}
