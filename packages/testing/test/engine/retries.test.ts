import { define, PermanentError, RetryLaterError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'

describe('retries', () => {
  it('waits its backoff before each attempt and gives every attempt the same idempotency key', async () => {
    const { clock, worker } = engines()
    const calls: { at: number; attempt: number; key: string }[] = []
    const workflow = define('flaky', { version: 1 }).step('flaky', {
      retry: { attempts: 4, initial: '1s', max: '30s', jitter: false },
      run: ({ attempt, idempotencyKey }) => {
        calls.push({ at: clock.now(), attempt, key: idempotencyKey })
        if (attempt < 4) throw new Error('not yet')
        return attempt
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    const gaps = calls.slice(1).map(({ at }, n) => at - calls[n]!.at)
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
    expect(new Set(calls.map(({ key }) => key))).toEqual(new Set([`${run.id}:flaky`]))
    for (const [n, plain] of [1_000, 2_000, 4_000].entries()) {
      expect(gaps[n]).toBeGreaterThanOrEqual(plain)
      expect(gaps[n]).toBeLessThanOrEqual(plain + 200)
    }
  })

  it('fails at once on PermanentError', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = define('permanent', { version: 1 }).step('no', {
      run: () => {
        calls += 1
        throw new PermanentError('card stolen')
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil(
      (await engine.run(workflow, undefined)).result().catch((e: unknown) => e),
    )

    expect(calls).toBe(1)
    expect(RunFailedError.is(error) && error.message).toMatch(
      /step "no" gave up after 1 attempt with PermanentError: card stolen/,
    )
  })

  it('waits as long as RetryLaterError says', async () => {
    const { clock, worker } = engines()
    const calls: number[] = []
    const workflow = define('later', { version: 1 }).step('later', {
      run: () => {
        calls.push(clock.now())
        if (calls.length === 1) throw new RetryLaterError({ after: '10m' })
      },
    })
    const engine = await worker({ workflows: [workflow] })

    await clock.runUntil((await engine.run(workflow, undefined)).result())

    expect(calls[1]! - calls[0]!).toBeGreaterThanOrEqual(600_000)
    expect(calls[1]! - calls[0]!).toBeLessThanOrEqual(600_200)
  })

  it('keeps a result that comes soon after the timeout: the effect is there', async () => {
    const { clock, worker, sleep } = engines()
    const signals: boolean[] = []
    const workflow = define('late', { version: 1 }).step('slow', {
      timeout: '10s',
      run: async ({ signal }) => {
        await sleep(12_000)
        signals.push(signal.aborted)
        return 'charged'
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const result = await clock.runUntil((await engine.run(workflow)).result())

    expect(result).toEqual({ slow: 'charged' })
    expect(signals).toEqual([true])
  })

  it('begins no undo while a timed-out handler still reacts to its signal', async () => {
    const { clock, worker, sleep } = engines()
    const happened: string[] = []
    const workflow = define('tidy', { version: 1 })
      .step('reserve', { run: () => 'reserved', compensate: () => happened.push('released') })
      .step('charge', {
        dependsOn: ['reserve'],
        timeout: '10s',
        retry: false,
        run: async ({ signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await sleep(2_000)
          happened.push('stopped charging')
          throw signal.reason
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil(
      (await engine.run(workflow)).result().catch((failed: unknown) => failed),
    )

    expect(error).toMatchObject({ reason: { step: 'charge', error: { code: 'step_timeout' } } })
    expect(happened).toEqual(['stopped charging', 'released'])
  })

  it('waits a limited time for a handler that ignores its signal, and the report says that its effect is unknown', async () => {
    const { clock, worker } = engines()
    const workflow = define('deaf', { version: 1 }).step('charge', {
      timeout: '10s',
      retry: false,
      run: () => new Promise(() => {}),
      compensate: () => {},
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)

    const error = await clock.runUntil(
      run.result().catch((failed: unknown) => failed),
      { limit: '20s' },
    )

    expect(error).toMatchObject({
      undo: [{ step: 'charge', result: 'unknown', error: { code: 'step_timeout' } }],
      message: expect.stringMatching(/What "charge" did is unknown, and was not undone\.$/),
    })
  })

  it('times an attempt out, fires its signal, tries again, and discards a late result', async () => {
    const { clock, worker } = engines()
    const late = gate()
    const signals: unknown[] = []
    const discarded: unknown[] = []
    const workflow = define('timeout', { version: 1 }).step('slow', {
      timeout: '5s',
      retry: { initial: '1s' },
      run: async ({ attempt, signal }) => {
        if (attempt === 2) return 'second'
        signal.addEventListener('abort', () => signals.push(signal.reason.code))
        await late.passed
        return 'first, late'
      },
    })
    const engine = await worker({ workflows: [workflow] })
    engine.on('step.discarded', ({ reason }) => discarded.push(reason))

    const result = await clock.runUntil((await engine.run(workflow, undefined)).result())
    late.open()
    await clock.advance(1)

    expect(result).toEqual({ slow: 'second' })
    expect(signals).toEqual(['step_timeout'])
    expect(discarded).toEqual(['timed_out'])
  })

  it('limits the attempt under way to what is left of `retry.for`', async () => {
    const { clock, worker, sleep } = engines()
    const signalledAt: number[] = []
    const calls: number[] = []
    const workflow = define('bounded', { version: 1 }).step('slow', {
      timeout: '1h',
      retry: { for: '60s', initial: '20s', jitter: false },
      run: async ({ signal }) => {
        calls.push(clock.now())
        if (calls.length === 1) throw new Error('not yet')
        signal.addEventListener('abort', () => signalledAt.push(clock.now()))
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await sleep(1)
        throw signal.reason
      },
    })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil((await engine.run(workflow)).result().catch((e: unknown) => e))

    expect(calls).toHaveLength(2)
    expect(Math.abs(signalledAt[0]! - calls[0]! - 60_000)).toBeLessThan(1_000)
    expect(error).toMatchObject({
      reason: {
        error: {
          code: 'step_timeout',
          message: expect.stringMatching(/[0-9]m?s that were left of its `retry\.for`/),
        },
      },
    })
  })

  it('limits a first attempt with `retry.for` alone', async () => {
    const { clock, worker } = engines()
    const workflow = define('first', { version: 1 }).step('slow', {
      retry: { for: '30s' },
      run: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil((await engine.run(workflow)).result().catch((e: unknown) => e))

    expect(error).toMatchObject({ reason: { attempt: 1, error: { code: 'step_timeout' } } })
  })

  it('begins no retry that a worker claims after `retry.for`', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = define('late', { version: 1 }).step('flaky', {
      retry: { for: '60s', initial: '10s', jitter: false },
      run: () => {
        calls += 1
        throw new Error('not yet')
      },
    })
    const first = await worker({ workflows: [workflow] })
    const run = await first.run(workflow)
    await clock.advance('2s')
    await clock.runUntil(first.stop())
    await clock.advance('2m')
    const second = await worker({ workflows: [workflow] })

    const error = await clock.runUntil(
      second.runs
        .handle(run.id)
        .result()
        .catch((e: unknown) => e),
    )

    expect(calls).toBe(1)
    expect(error).toMatchObject({
      undo: [],
      reason: {
        error: {
          code: 'retry_window_over',
          message: expect.stringMatching(/Its last failure was Error: not yet\. Raise `retry\.for`/),
        },
      },
    })
  })

  it('calls a compensation again that throws, though its step is tried once', async () => {
    const { clock, worker } = engines()
    let undos = 0
    const workflow = define('undo', { version: 1, retry: false })
      .step('charge', {
        retry: false,
        run: () => 'ch_1',
        compensate: () => {
          undos += 1
          if (undos < 4) throw new Error('not yet')
        },
      })
      .step('ship', {
        dependsOn: ['charge'],
        run: () => {
          throw new Error('no')
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil((await engine.run(workflow)).result().catch((e: unknown) => e))

    expect(error).toMatchObject({ status: 'compensated', undo: [{ step: 'charge', result: 'compensated' }] })
    expect(undos).toBe(4)
  })

  it('calls a compensation only once if its policy says so', async () => {
    const { clock, worker } = engines()
    let undos = 0
    const workflow = define('once', { version: 1 })
      .step('charge', {
        run: () => 'ch_1',
        compensate: {
          retry: false,
          run: () => {
            undos += 1
            throw new Error('no')
          },
        },
      })
      .step('ship', {
        dependsOn: ['charge'],
        run: () => {
          throw new PermanentError('no')
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const error = await clock.runUntil((await engine.run(workflow)).result().catch((e: unknown) => e))

    expect(error).toMatchObject({ status: 'compensation_failed' })
    expect(undos).toBe(1)
  })
})
