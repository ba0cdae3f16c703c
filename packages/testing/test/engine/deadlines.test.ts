import { define, RunFailedError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

/** A worker for tests in which days of virtual time pass: it looks rarely, and timers wake it. */

describe('deadlines', () => {
  const undone: string[] = []
  const workflow = define('late', { version: 1, deadline: '1h' })
    .step('book', {
      run: () => 'room',
      compensate: ({ cause }) => {
        undone.push(cause.type)
      },
    })
    .sleep('long', { dependsOn: ['book'], for: '2h' })

  it('a run that has not ended by its deadline fails with the deadline as its cause, and is undone', async () => {
    const { clock, worker } = engines()
    undone.length = 0
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()
    const run = await engine.run(workflow)

    const error = await clock.runUntil(run.result().catch((e: unknown) => e))

    expect(RunFailedError.is(error) && error).toMatchObject({
      status: 'compensated',
      reason: { type: 'deadline', deadlineAt: new Date(startedAt + 3_600_000).toISOString() },
      message: expect.stringContaining('had not ended by its deadline, 2025-01-01T01:00:00.000Z'),
    })
    expect(undone).toEqual(['deadline'])
    expect(clock.now() - startedAt).toBeLessThan(3_600_000 + 300)
    expect(statuses(await run.status())).toEqual({ book: 'compensated', long: 'cancelled' })
  })

  it.each([
    ['another', { deadline: '3h' }],
    ['none', { deadline: false }],
  ] as const)('a run may have %s', async (_, options) => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined, options)
    await clock.runUntil(run.result())
    expect((await run.status()).status).toBe('completed')
  })

  it('a short deadline is met within a tick, even if the engine rarely looks for deadlines', async () => {
    const { clock, worker, sleep } = engines()
    const slow = define('slow', { version: 1 }).step('slow', { run: () => sleep(60_000) })
    const engine = await worker({ workflows: [slow] })
    await clock.advance('1.1s')
    const startedAt = clock.now()
    const run = await engine.run(slow, undefined, { deadline: '300ms' })
    const stopped = new Promise<number>((resolve) => {
      engine.on('run.compensating', () => resolve(clock.now()))
    })
    const at = await clock.runUntil(stopped)
    expect(at - startedAt).toBeGreaterThanOrEqual(300)
    expect(at - startedAt).toBeLessThanOrEqual(500)
    await clock.runUntil(run.result().catch(() => {}))
  })

  it('fires the signals of handlers in flight', async () => {
    const { clock, worker } = engines()
    const slow = define('slow', { version: 1 }).step('slow', {
      run: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const engine = await worker({ workflows: [slow] })
    const run = await engine.run(slow, undefined, { deadline: '10s' })
    await clock.runUntil(
      run.result().catch(() => {}),
      { limit: '20s' },
    )
    expect((await run.status()).cause?.type).toBe('deadline')
  })

  it('counts from the start time', async () => {
    const { clock, worker } = engines()
    const quick = define('quick', { version: 1 }).sleep('a', { for: '30m' })
    const engine = await worker({ workflows: [quick] })
    const run = await engine.run(quick, undefined, { delay: '2h', deadline: '1h' })
    const startedAt = clock.now()
    expect((await run.status()).deadlineAt).toEqual(new Date(startedAt + 3 * 3_600_000))
    await clock.runUntil(run.result())
    expect((await run.status()).status).toBe('completed')
  })
})

describe('the deadline of a child', () => {
  const child = define('errand', { version: 1, deadline: '1h' }).sleep('long', { for: '2h' })
  const lasting = define('lasting', { version: 1 }).sleep('long', { for: '2h' })

  it('is no later than that of its parent, and no later than its own', async () => {
    const { clock, worker } = engines()
    const parent = define('trip', { version: 1 })
      .sleep('first', { for: '10m' })
      .workflow('short', child, { dependsOn: ['first'] })
      .workflow('open', lasting, { dependsOn: ['first'] })
    const engine = await worker({ workflows: [parent] })
    const startedAt = clock.now()
    const early = await engine.run(parent, undefined, { deadline: '30m' })
    const late = await engine.run(parent, undefined, { deadline: '5h' })
    await clock.advance('11m')

    const minutes = async (parentId: string) =>
      Object.fromEntries(
        (await engine.runs.list({ parentId })).map(({ workflow, deadlineAt }) => [
          workflow,
          Math.round((Number(deadlineAt) - startedAt) / 60_000),
        ]),
      )
    expect(await minutes(early.id)).toEqual({ errand: 30, lasting: 30 })
    expect(await minutes(late.id)).toEqual({ errand: 70, lasting: 300 })
  })

  it('is its own if nobody waits for it, or if its parent has passed a pivot', async () => {
    const { clock, worker } = engines()
    const parent = define('trip', { version: 1 })
      .step('paid', { pivot: true, run: () => {} })
      .workflow('aside', lasting, { dependsOn: ['paid'], detached: true })
      .workflow('after', lasting, { dependsOn: ['paid'] })
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent, undefined, { deadline: '30m' })
    await clock.advance('1m')

    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ deadlineAt }) => deadlineAt)).toEqual([undefined, undefined])
  })
})
