import { define, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

/** A worker for tests in which days of virtual time pass: it looks rarely, and timers wake it. */
const PATIENT = { tick: '1m', lease: '1d' } as const

describe('sleeping', () => {
  it('sleeps for its time, to the millisecond, and then continues', async () => {
    const { clock, worker } = engines()
    const workflow = define('nap', { version: 1 })
      .step('before', { run: () => 'x' })
      .sleep('nap', { dependsOn: ['before'], for: '3d' })
      .step('after', { dependsOn: ['nap', 'before'], run: ({ deps }) => [deps.before, typeof deps.nap] })
    const engine = await worker({ workflows: [workflow], ...PATIENT })
    const startedAt = clock.now()

    const run = await engine.run(workflow)
    const result = await clock.runUntil(run.result())

    expect(result).toEqual({ before: 'x', nap: undefined, after: ['x', 'undefined'] })
    expect(clock.now() - startedAt).toBe(3 * 86_400_000)
  })

  it('shows what it waits for, since when and until when, and counts no attempt', async () => {
    const { clock, worker } = engines()
    const workflow = define('nap', { version: 1 }).sleep('nap', { for: '5s' })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    const startedAt = clock.now()
    await clock.advance('1s')

    const snapshot = await run.status()

    expect(snapshot.status).toBe('waiting')
    expect(snapshot.steps[0]).toMatchObject({
      status: 'waiting',
      attempts: 0,
      failures: 0,
      workerId: undefined,
      waitingSince: new Date(startedAt),
      dueAt: new Date(startedAt + 5_000),
    })
  })

  it('survives every process: a sleeping step is only a row', async () => {
    const { clock, adapter, engine, worker } = engines()
    const workflow = define('nap', { version: 1 })
      .sleep('nap', { for: '30d' })
      .step('after', { dependsOn: ['nap'], run: () => 'woke' })
    const first = await worker({ workflows: [workflow] })
    const run = await first.run(workflow)
    await clock.advance('1s')
    await clock.runUntil(first.stop({ timeout: 0 }))
    expect(clock.pending).toBe(0)

    await clock.advance('30d')
    const second = await worker({ workflows: [workflow] })

    expect(await clock.runUntil(engine().runs.handle(run.id).result())).toMatchObject({ after: 'woke' })
    await clock.runUntil(second.stop())
    expect(adapter.dump().queue).toEqual([])
  })

  it('sleeps for a duration, or until an instant, that a function computes from input and deps', async () => {
    const { clock, worker } = engines()
    const workflow = define('computed', { version: 1 })
      .step('term', { run: () => ({ days: 2 }) })
      .sleep('forDays', { dependsOn: ['term'], for: ({ deps }) => `${deps.term.days}d` })
      .sleep('untilThen', {
        dependsOn: ['forDays'],
        until: async ({ input }) => (input as { day: string }).day,
      })
    const engine = await worker({ workflows: [workflow], ...PATIENT })
    const startedAt = clock.now()

    const run = await engine.run(workflow, { day: '2025-01-10T00:00:00Z' })
    await clock.runUntil(run.result())

    const steps = Object.fromEntries((await run.status()).steps.map((step) => [step.name, step]))
    expect(Number(steps['forDays']!.finishedAt)).toBe(startedAt + 2 * 86_400_000)
    expect(Number(steps['untilThen']!.finishedAt)).toBe(Date.UTC(2025, 0, 10))
  })

  it.each([
    ['a duration of zero', { for: 0 }],
    ['an instant that has passed', { until: new Date(0) }],
    ['a computed instant that has passed', { until: () => '2001-01-01T00:00:00Z' }],
  ] as const)('continues at once after %s', async (_, options) => {
    const { clock, worker } = engines()
    const workflow = define('none', { version: 1 }).sleep('none', options as { for: 0 })
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()
    const run = await engine.run(workflow)
    await clock.runUntil(run.result())
    expect(clock.now() - startedAt).toBeLessThan(10)
  })

  it.each([
    [
      'a negative duration',
      { for: (): number => -5 },
      /What for of step "nap".*returned is -5.*not a duration/,
    ],
    ['nonsense', { for: (): string => 'soon' }, /is "soon", which is not a duration/],
    [
      'no instant',
      { until: (): Date => new Date(Number.NaN) },
      /is an invalid Date, which is not an instant/,
    ],
    ['ages', { for: (): string => '40000d' }, /the longest duration is 3650d/],
  ] as const)('fails at once, without retries, if its function returns %s', async (_, options, message) => {
    const { clock, worker } = engines()
    const workflow = define('bad', { version: 1 }).sleep('nap', options as never)
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))
    expect(error).toMatchObject({ code: 'run_failed', step: 'nap', attempt: 1 })
    expect((error as Error).message).toMatch(message)
  })

  it('retries a function that throws, like a step', async () => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = define('flaky', { version: 1 }).sleep('nap', {
      for: () => {
        calls += 1
        if (calls < 3) throw new Error('not yet')
        return '1s' as const
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result())
    expect(calls).toBe(3)
  })

  it('takes no slot: two thousand runs sleep while one works', async () => {
    const { clock, worker } = engines()
    const sleeping = define('sleeping', { version: 1 }).sleep('nap', { for: '1h' })
    const busy = define('busy', { version: 1 }).step('work', { run: () => 'done' })
    const engine = await worker({ workflows: [sleeping, busy], concurrency: 1 })
    await engine.runMany(
      sleeping,
      Array.from({ length: 2_000 }, () => ({})),
    )
    await clock.advance('1s')
    expect(await engine.runs.list({ status: 'waiting', limit: 1_000 })).toHaveLength(1_000)
    const run = await engine.run(busy)
    expect(await clock.runUntil(run.result(), { limit: '1s' })).toEqual({ work: 'done' })
  })

  it('reports to its listeners that it waits', async () => {
    const { clock, worker } = engines()
    const workflow = define('told', { version: 1 }).sleep('nap', { for: '5s' })
    const engine = await worker({ workflows: [workflow] })
    const told: unknown[] = []
    engine.on('step.waiting', ({ step, wake }) => told.push([step, wake]))
    engine.on('step.completed', ({ step }) => told.push([step, 'completed']))
    const run = await engine.run(workflow)
    await clock.runUntil(run.result())
    expect(told).toEqual([
      ['nap', { afterMs: 5_000 }],
      ['nap', 'completed'],
    ])
  })
})

describe('polling', () => {
  const polling = (until: () => unknown, options: object = {}) =>
    define('poll', { version: 1 })
      .step('begin', { run: () => 'export-7' })
      .poll('ready', { dependsOn: ['begin'], every: '10m', until, ...options })
      .step('use', { dependsOn: ['ready'], run: ({ deps }) => deps.ready })

  it('checks at its interval until there is an answer, and passes that on', async () => {
    const { clock, worker } = engines()
    const asked: number[] = []
    const answers = [undefined, false, null, { url: 'https://files' }]
    const workflow = polling(() => {
      asked.push(clock.now())
      return answers[asked.length - 1]
    })
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()

    const run = await engine.run(workflow)
    const { use } = await clock.runUntil(run.result())

    expect(use).toEqual({ url: 'https://files' })
    expect(asked.map((at) => at - startedAt)).toEqual([0, 600_000, 1_200_000, 1_800_000])
  })

  it.each([0, '', true])('accepts %j as an answer', async (answer) => {
    const { clock, worker } = engines()
    const workflow = polling(() => answer)
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    expect(await clock.runUntil(run.result())).toMatchObject({ use: answer })
  })

  it('checks a last time when its timeout has passed, and then fails for good', async () => {
    const { clock, worker } = engines()
    let asked = 0
    const workflow = polling(
      () => {
        asked += 1
      },
      { timeout: '25m' },
    )
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()
    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(RunFailedError.is(error) && error.reason).toMatchObject({
      type: 'step_failed',
      step: 'ready',
      error: { code: 'poll_timeout' },
    })
    expect(asked).toBe(4)
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(25 * 60_000)
    expect(clock.now() - startedAt).toBeLessThan(25 * 60_000 + 2_000)
  })

  it('retries a check that throws by its policy, and an answer resets the count', async () => {
    const { clock, worker } = engines()
    let asked = 0
    // Every other check throws. With two attempts for each check, that could go on forever.
    const workflow = polling(
      () => {
        asked += 1
        if (asked % 2 === 1) throw new Error('503')
        return asked === 8 ? 'done' : undefined
      },
      { retry: { attempts: 2, initial: '1s' } },
    )
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    expect(await clock.runUntil(run.result())).toMatchObject({ use: 'done' })
  })

  it('fails if its check keeps throwing', async () => {
    const { clock, worker } = engines()
    const workflow = polling(() => Promise.reject(new Error('503')), { retry: { attempts: 3 } })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))
    expect(statuses(await run.status())).toEqual({ begin: 'completed', ready: 'failed', use: 'cancelled' })
  })
})
