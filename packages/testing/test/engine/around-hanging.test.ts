import { AsyncLocalStorage } from 'node:async_hooks'
import { type Around, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { errorLog, NO_RETRY, one } from './around-hooks.ts'
import { engines, gate } from './bench-of-engines.ts'

describe('hooks that hang', () => {
  const hangs: Around = () => new Promise(() => {})
  const hangsAfter: Around = async (_, next) => {
    await next().catch(() => {})
    await new Promise(() => {})
  }

  it('before next() delay the handler by a second at most, in their async context', async () => {
    const { clock, worker } = engines()
    const { errors, logger } = errorLog()
    const span = new AsyncLocalStorage<string>()
    const workflow = one(() => span.getStore())
    const engine = await worker({
      workflows: [workflow],
      logger,
      around: [(_, next) => span.run('outer', next), hangs],
    })
    const run = await engine.run(workflow)
    const begunAt = clock.now()

    expect(await clock.runUntil(run.result())).toEqual({ a: 'outer' })

    expect(clock.now() - begunAt).toBeLessThan(1_500)
    expect(errors).toMatchObject([
      {
        message: 'An around hook has not called next() within 1 s. The handler runs without it.',
        hook: 'around[1] (hangs)',
      },
    ])
  })

  it('after the handler has ended delay nothing, neither its outcome nor a stop', async () => {
    const { clock, worker } = engines()
    for (const run of [() => 'sync', async () => 'async']) {
      const workflow = one(run)
      const engine = await worker({ workflows: [workflow], around: [hangsAfter] })
      const started = await engine.run(workflow)
      const begunAt = clock.now()

      await clock.runUntil(started.result())
      await clock.runUntil(engine.stop())

      expect(clock.now() - begunAt).toBeLessThan(500)
    }
  })

  it('before next() beyond the timeout of the step: the handler is not called, and the attempt has timed out', async () => {
    const { clock, worker, sleep } = engines()
    let calls = 0
    const ends: unknown[] = []
    const workflow = define('one', { version: 1 }).step('a', {
      ...NO_RETRY,
      timeout: '100ms',
      run: () => {
        calls += 1
      },
    })
    const slow: Around = async (_, next) => {
      await sleep(300)
      await next().catch((error: unknown) => ends.push(error))
    }
    const engine = await worker({ workflows: [workflow], around: [slow] })

    const run = await engine.run(workflow)
    const failed = await clock.runUntil(run.result().catch((error: unknown) => error))
    await clock.advance('2s')

    expect(String(failed)).toContain('did not end within its timeout of 100ms')
    expect(calls).toBe(0)
    expect(ends).toMatchObject([{ code: 'step_timeout' }])
  })

  it('before next() do not keep a worker from stopping, and its step is released without a call', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = one(() => {
      calls += 1
      return calls
    })
    const entered = gate()
    const stuck: Around = () => {
      entered.open()
      return new Promise(() => {})
    }
    const first = await worker({ workflows: [workflow], around: [stuck] })
    const run = await first.run(workflow)
    await clock.runUntil(entered.passed)

    await clock.runUntil(first.stop({ timeout: '200ms' }))
    await clock.advance('2s')
    expect(calls).toBe(0)

    await worker({ workflows: [workflow] })
    expect(await clock.runUntil(run.result())).toEqual({ a: 1 })
  })

  it('hear the timeout of an attempt whose handler never ends', async () => {
    const { clock, worker } = engines()
    const ends: unknown[] = []
    const workflow = define('one', { version: 1 }).step('a', {
      ...NO_RETRY,
      timeout: '1s',
      run: () => new Promise(() => {}),
    })
    const engine = await worker({
      workflows: [workflow],
      around: [(_, next) => next().catch((error: unknown) => ends.push(error))],
    })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))

    expect(ends).toMatchObject([{ code: 'step_timeout' }])
  })

  it('before next() while the run is cancelled: the handler is not called', async () => {
    const { clock, worker, sleep } = engines()
    let calls = 0
    const entered = gate()
    const workflow = one(() => {
      calls += 1
    })
    const slow: Around = async (_, next) => {
      entered.open()
      await sleep(800)
      return next()
    }
    const engine = await worker({ workflows: [workflow], around: [slow] })
    const run = await engine.run(workflow)
    await clock.runUntil(entered.passed)

    await run.cancel()
    await clock.runUntil(run.result().catch(() => {}))

    expect((await run.status()).status).toBe('cancelled')
    expect(calls).toBe(0)
  })
})
