import { createEngine, define, PermanentError, RetryLaterError, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, statuses } from './bench-of-engines.ts'

describe('going forward', () => {
  it('gives a step the outputs of the steps it depends on, and the run the outputs of all', async () => {
    const { clock, worker } = engines()
    const workflow = define('sum', { version: 1 })
      .step('two', { run: () => 2 })
      .step('three', { run: async () => 3 })
      .step('sum', { dependsOn: ['two', 'three'], run: ({ deps }) => deps.two + deps.three })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ two: 2, three: 3, sum: 5 })
  })

  it('runs ready steps side by side: two roots of 700 ms end together in under a second, in one worker', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('parallel', { version: 1 })
      .step('a', { run: () => sleep(700) })
      .step('b', { run: () => sleep(700) })
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()

    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    expect(clock.now() - startedAt).toBeLessThan(1_000)
  })

  it('does not wait for the tick between the steps of a chain', async () => {
    const { clock, worker } = engines()
    const workflow = define('chain', { version: 1 })
      .step('a', { run: () => 1 })
      .step('b', { dependsOn: ['a'], run: () => 2 })
      .step('c', { dependsOn: ['b'], run: () => 3 })
    const engine = await worker({ workflows: [workflow], tick: '1m' })
    const startedAt = clock.now()

    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    expect(clock.now()).toBe(startedAt)
  })

  it('keeps other steps moving while one is slow', async () => {
    const { clock, worker, sleep } = engines()
    const slow = define('slow', { version: 1 }).step('sleep', { run: () => sleep(60_000) })
    const quick = define('quick', { version: 1 }).step('go', { run: () => 'done' })
    const engine = await worker({ workflows: [slow, quick] })
    await engine.run(slow, undefined)
    await clock.advance('1s')
    const startedAt = clock.now()

    const run = await engine.run(quick, undefined)
    await clock.runUntil(run.result())

    expect(clock.now() - startedAt).toBeLessThan(200)
  })

  it('runs no more handlers at once than its concurrency, and leases no more either', async () => {
    const { clock, worker, sleep, adapter } = engines()
    let running = 0
    let most = 0
    const fan = Array.from({ length: 20 }, (_, n) => n)
    const workflow = fan.reduce(
      (flow, n) =>
        flow.step(`s${n}`, {
          run: async () => {
            running += 1
            most = Math.max(most, running)
            await sleep(100)
            running -= 1
          },
        }),
      define('fan', { version: 1 }) as ReturnType<typeof define>,
    )
    const engine = await worker({ workflows: [workflow], concurrency: 3 })

    const run = await engine.run(workflow, undefined)
    await clock.advance('50ms')
    const leased = (await adapter.readRun(run.id))!.steps.filter(({ status }) => status === 'running')
    await clock.runUntil(run.result())

    expect(most).toBe(3)
    expect(leased).toHaveLength(3)
  })

  it('runs a step of three leases’ length once', async () => {
    const { clock, worker, sleep } = engines()
    let calls = 0
    const workflow = define('long', { version: 1 }).step('long', {
      run: async () => {
        calls += 1
        await sleep(90_000)
        return calls
      },
    })
    const first = await worker({ workflows: [workflow], lease: '30s' })
    await worker({ workflows: [workflow], lease: '30s' })

    const run = await first.run(workflow, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ long: 1 })
    expect(calls).toBe(1)
  })

  it.each([0, false, '', null, undefined, []])('keeps the output %j as it is', async (output) => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('falsy', { version: 1 })
      .step('give', { run: (): unknown => output })
      .step('take', {
        dependsOn: ['give'],
        run: ({ deps }) => {
          seen.push(deps.give)
        },
      })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow, undefined)
    const result = await clock.runUntil(run.result())

    expect(seen).toEqual([output])
    expect(result.give).toEqual(output)
    expect('give' in result).toBe(true)
  })

  it('gives every attempt its own copy of what it was given', async () => {
    const { clock, worker } = engines()
    const seen: unknown[] = []
    const workflow = define('copies', { version: 1 })
      .step('list', { run: () => [1] })
      .step('spoil', {
        dependsOn: ['list'],
        run: ({ deps }) => {
          deps.list.push(2)
        },
      })
      .step('look', {
        dependsOn: ['list', 'spoil'],
        run: ({ deps }) => {
          seen.push(deps.list)
        },
      })
    const engine = await worker({ workflows: [workflow] })

    await clock.runUntil((await engine.run(workflow, undefined)).result())

    expect(seen).toEqual([[1]])
  })
})

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

  it('times an attempt out, signals it, tries again, and discards what comes late', async () => {
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
})

describe('outputs that cannot be stored', () => {
  it.each([
    ['a bigint', () => 1n, 'payload_unserialisable', /Output of step "bad".*cannot be stored as JSON/],
    [
      'a cycle',
      () => {
        const o: Record<string, unknown> = {}
        o['o'] = o
        return o
      },
      'payload_unserialisable',
      /cannot be stored/,
    ],
    ['a function', () => () => 1, 'payload_unserialisable', /function has no JSON form/],
    [
      '2 MiB',
      () => 'x'.repeat(2 * 1024 * 1024),
      'payload_too_large',
      /is 2097154 bytes as JSON; the limit is 1048576/,
    ],
  ])('%s fails the step at once, with what and how much', async (_, make, code, message) => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = define('bad', { version: 1 }).step('bad', {
      run: (): unknown => {
        calls += 1
        return make()
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await clock.runUntil(run.result().catch(() => {}))

    const { cause, status } = await run.status()
    expect(calls).toBe(1)
    expect(status).toBe('failed')
    expect(cause).toMatchObject({
      type: 'step_failed',
      error: { code, message: expect.stringMatching(message) },
    })
  })

  it('an input that is too large is refused before anything is written', async () => {
    const { engine } = engines()
    const workflow = define('input', { version: 1 }).step('a', { run: () => 1 })
    const made = engine({ workflows: [workflow], payloadMaxBytes: 10 })

    await expect(made.run(workflow, 'x'.repeat(20))).rejects.toMatchObject({ code: 'payload_too_large' })

    expect(await made.runs.list()).toEqual([])
  })
})

describe('starting', () => {
  const workflow = define('keyed', { version: 1 }).step('a', { run: () => 1 })

  it('the same key and input give the first run; another input is refused', async () => {
    const { engine } = engines()
    const made = engine()

    const first = await made.run(workflow, { a: 1, b: 2 }, { key: 'order:1' })
    const second = await made.run(workflow, { b: 2, a: 1 }, { key: 'order:1' })

    expect(first.created).toBe(true)
    expect(second).toMatchObject({ id: first.id, created: false })
    await expect(made.run(workflow, { a: 2 }, { key: 'order:1' })).rejects.toMatchObject({
      code: 'key_conflict',
      runId: first.id,
    })
    expect(await made.runs.list()).toHaveLength(1)
  })

  it('refuses a changed shape under the same version, with the difference', async () => {
    const { engine } = engines()
    await engine().run(workflow, undefined)
    const changed = define('keyed', { version: 1 })
      .step('a', { run: () => 1 })
      .step('b', { dependsOn: ['a'], run: () => 1 })

    await expect(engine({ workflows: [changed] }).start()).rejects.toMatchObject({
      code: 'definition_changed',
      message: expect.stringMatching(/needs a new version: give version 2[\s\S]*b/),
    })
  })

  it('runs in flight go on by the version they started with when a newer one is registered', async () => {
    const { clock, engine, worker } = engines()
    const run = await engine().run(workflow, undefined)
    const newer = define('keyed', { version: 2 }).step('z', { run: () => 26 })

    const worked = await worker({ workflows: [newer, workflow] })
    const other = await worked.run(newer, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ a: 1 })
    expect(await clock.runUntil(other.result())).toEqual({ z: 26 })
  })

  it('a version nobody can run is left alone, not failed', async () => {
    const { clock, engine, worker } = engines()
    const run = await engine().run(workflow, undefined)
    await worker({ workflows: [define('keyed', { version: 2 }).step('z', { run: () => 26 })] })

    await clock.advance('10m')

    expect(statuses(await run.status())).toEqual({ a: 'ready' })
  })

  it.each([
    [{ concurrency: 0 }, /concurrency must be a whole number from 1 to 10000; got 0/],
    [{ tick: 'soon' }, /tick is "soon", which is not a duration/],
    [{ lease: '1ms' }, /lease must be a duration from 100 ms/],
    [{ workflow: [] }, /no option "workflow"/],
    [{ workflows: [{}] }, /definitions made by define/],
    [{ adapter: 'postgres://' }, /adapter must be an adapter/],
  ])('refuses the options %j', (options, message) => {
    const { adapter } = engines()
    expect(() => createEngine({ adapter, ...options } as never)).toThrow(message)
  })
})
