import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A worker for tests in which days of virtual time pass: it looks rarely, and timers wake it. */

describe('start times', () => {
  const workflow = define('later', { version: 1 }).step('a', { run: () => 'ran' })

  it('a delayed run is scheduled until its time, and begins within a tick of it', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const startedAt = clock.now()
    const run = await engine.run(workflow, undefined, { delay: '2h' })

    expect(await run.status()).toMatchObject({
      status: 'scheduled',
      startAt: new Date(startedAt + 7_200_000),
    })
    expect(await engine.runs.list({ status: 'scheduled' })).toHaveLength(1)
    await clock.runUntil(run.result())

    const begun = Number((await run.status()).steps[0]!.startedAt) - startedAt
    expect(begun).toBeGreaterThanOrEqual(7_200_000)
    expect(begun).toBeLessThan(7_200_100)
  })

  it.each([
    ['a Date', new Date('2025-01-01T01:00:00Z')],
    ['a text', '2025-01-01T02:00:00+01:00'],
  ])('a run starts at an instant given as %s', async (_, startAt) => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined, { startAt })
    await clock.runUntil(run.result())
    expect(Number((await run.status()).steps[0]!.startedAt)).toBe(Date.UTC(2025, 0, 1, 1))
  })

  it('a start time in the past starts the run at once', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined, { startAt: '1999-01-01' })
    expect(await clock.runUntil(run.result(), { limit: '1s' })).toEqual({ a: 'ran' })
  })

  it('runMany() accepts times for each run', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const [now, later] = await engine.runMany(workflow, [{}, { delay: '1h' }])
    await clock.runUntil(now!.result(), { limit: '1s' })
    expect((await later!.status()).status).toBe('scheduled')
  })

  it.each([
    ['a negative delay', { delay: -1 }, 'run(): delay must be a duration from 0 to 3650d'],
    ['a delay that is too long', { delay: '99999d' }, 'run(): delay must be a duration from 0 to 3650d'],
    ['a day that does not exist', { startAt: '2026-02-30' }, 'startAt must be an instant'],
    ['a date before year 1', { startAt: new Date(-8.64e15) }, 'startAt must be an instant from year 1'],
    ['no date', { startAt: 'tomorrow' }, 'run(): startAt must be an instant from year 1 to 9999'],
    ['a date without an offset', { startAt: '2025-01-01T09:00:00' }, 'with an offset'],
    ['an invalid date', { startAt: new Date(Number.NaN) }, 'an invalid Date'],
    ['both', { startAt: new Date(), delay: 1 }, 'startAt and delay are both given'],
    ['a deadline of zero', { deadline: 0 }, 'deadline must be false or a duration greater than 0'],
    ['a negative deadline', { deadline: '-1h' }, 'deadline must be false or a duration'],
    ['an unknown option', { dealy: 1 }, 'no option "dealy". Did you mean "delay"?'],
  ] as const)('refuses %s, and starts nothing', async (_, options, message) => {
    const { engine } = engines()
    const made = engine()
    const starting = made.run(workflow, undefined, options as never)
    await expect(starting).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(starting).rejects.toThrow(message)
    expect(await made.runs.list()).toEqual([])
  })
})
