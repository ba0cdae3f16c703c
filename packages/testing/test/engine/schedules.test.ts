import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const nightly = define('nightly', { version: 1 }).step('report', { run: ({ input }) => input as never })
/** Waits an hour, so that it overlaps. */
const slow = define('slow', { version: 1 })
  .step('begin', { run: () => 'begun' })
  .sleep('long', { dependsOn: ['begin'], for: '1h' })

function scheduled(workflows = [nightly, slow] as const) {
  const bench = engines()
  return { ...bench, start: () => bench.worker({ workflows: [...workflows] }) }
}

const iso = (dates: readonly { readonly scheduledAt: Date }[]) =>
  dates.map((each) => each.scheduledAt.toISOString())

describe('schedules', () => {
  it('fire at the times that their preview tells, once each', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('report', { cron: '0 3 * * *', timeZone: 'Europe/Zurich', workflow: nightly })
    const preview = await engine.schedules.preview('report', { count: 3 })

    await clock.advance('3d')

    const history = await engine.schedules.history('report')
    expect(iso([...history].reverse())).toEqual(iso(preview))
    expect(iso(preview)).toEqual([
      '2025-01-01T02:00:00.000Z',
      '2025-01-02T02:00:00.000Z',
      '2025-01-03T02:00:00.000Z',
    ])
    const runs = await engine.runs.list({ workflow: 'nightly' })
    expect(runs.map(({ key }) => key).reverse()).toEqual(
      preview.map((each) => `schedule:report:${each.scheduledAt.toISOString()}`),
    )
    for (const { createdAt, status, tags } of runs) {
      expect([createdAt.getUTCHours(), createdAt.getUTCMinutes(), createdAt.getUTCSeconds()]).toEqual([
        2, 0, 0,
      ])
      expect([status, tags]).toEqual(['completed', ['schedule:report']])
    }
  })

  it('tell the handler the scheduled time, in the property of the input that was named for it', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('report', {
      every: '10m',
      workflow: nightly,
      input: { to: 'ann' },
      timeAs: 'at',
    })

    await clock.advance('10m')

    const [run] = await engine.runs.list({ workflow: 'nightly' })
    const outputs = await clock.runUntil(engine.result(run!.id))
    expect(outputs).toEqual({ report: { to: 'ann', at: '2025-01-01T00:10:00.000Z' } })
  })

  it('skip a firing while an earlier run is live, and say so in their history', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '25m', workflow: slow, overlap: 'skip' })

    await clock.advance('105m')

    const history = await engine.schedules.history('s')
    expect(history.map(({ status }) => status).reverse()).toEqual([
      'started',
      'skipped',
      'skipped',
      'started',
    ])
    expect(history[1]!.reason).toContain(history[3]!.runId)
  })

  it('queue firings one after another, and explain what they wait for', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '25m', workflow: slow, overlap: 'queue' })
    await clock.advance('80m')

    const explained = await engine.schedules.explain('s')
    expect(explained.waiting).toHaveLength(2)
    expect(explained.waiting[0]!.reason).toContain(explained.liveRuns[0])
    expect(explained.summary).toContain('2 firings wait for an earlier run.')
    await engine.schedules.pause('s')
    expect((await engine.schedules.explain('s')).waiting[0]!.reason).toContain('resumed')
    await engine.schedules.resume('s')
    await clock.advance('15m')

    const history = await engine.schedules.history('s')
    expect(history.map(({ status }) => status).reverse()).toEqual(['started', 'started', 'queued'])
    const [second, first] = await engine.runs.list({ workflow: 'slow' })
    expect(second!.createdAt.getTime() - first!.finishedAt!.getTime()).toBeLessThanOrEqual(30_000)
    expect(second!.createdAt.getTime()).toBeGreaterThanOrEqual(first!.finishedAt!.getTime())
  })

  it('cancel the earlier run', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '25m', workflow: slow, overlap: 'cancel-running' })

    await clock.advance('51m')

    const runs = await engine.runs.list({ workflow: 'slow' })
    expect(runs.map(({ status }) => status)).toEqual(['waiting', 'cancelled'])
    expect(runs[1]!.cause).toMatchObject({ reason: 'The next firing of its schedule took its place.' })
  })

  it.each([
    ['none', ['missed', 'started']],
    ['last', ['missed', 'started', 'started']],
    ['all', ['started', 'started', 'started', 'started']],
  ] as const)('catch up with %s of the times that passed without a worker', async (catchUp, statuses) => {
    const { clock, adapter, start, trigger } = withTrigger()
    await trigger.schedules.put('s', { cron: '0 * * * *', workflow: nightly, catchUp, overlap: 'allow' })
    await clock.advance('210m')
    expect(adapter.dump().runs).toEqual([])

    const engine = await start()
    await clock.advance('40m')

    const history = await engine.schedules.history('s')
    expect(history.map(({ status }) => status).reverse()).toEqual(statuses)
  })

  it('make up for at most the last 100 times, and tell of the rest', async () => {
    const { clock, start, trigger } = withTrigger()
    await trigger.schedules.put('s', { every: '1m', workflow: nightly, catchUp: 'all', overlap: 'allow' })
    await clock.advance('1d')

    const engine = await start()
    await clock.advance('30s')

    const runs = await engine.runs.list({ workflow: 'nightly', limit: 1_000 })
    expect(runs).toHaveLength(100)
    expect(runs[0]!.key).toBe('schedule:s:2025-01-02T00:00:00.000Z')
    expect((await engine.schedules.history('s')).length).toBe(100)
  })

  it('do not fire while they are paused; what passed meanwhile never fires', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '1h', workflow: nightly })
    expect(await engine.schedules.pause('s', { reason: 'holidays' })).toBe(true)
    expect(await engine.schedules.pause('s')).toBe(false)
    await clock.advance('5h')
    expect(await engine.schedules.get('s')).toMatchObject({
      status: 'paused',
      pauseReason: 'holidays',
      nextAt: undefined,
    })

    expect(await engine.schedules.resume('s')).toBe(true)
    await clock.advance('61m')

    expect(iso(await engine.schedules.history('s'))).toEqual(['2025-01-01T06:00:00.000Z'])
  })

  it('fire when they are triggered, by their overlap or another', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '1d', workflow: slow })
    const first = await engine.schedules.trigger('s')
    await clock.advance('1s')
    const second = await engine.schedules.trigger('s')
    const third = await engine.schedules.trigger('s', { overlap: 'allow' })

    expect([first.status, second.status, third.status]).toEqual(['started', 'skipped', 'started'])
    expect((await engine.runs.list({ workflow: 'slow' })).map(({ id }) => id)).toEqual([
      third.runId,
      first.runId,
    ])
    await expect(engine.schedules.trigger('none')).rejects.toMatchObject({ code: 'unknown_schedule' })
  })

  it('backfill times of the past; those that have fired are not fired again', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { cron: '0 * * * *', workflow: nightly })
    await clock.advance('90m')
    const range = { from: '2024-12-31T22:00:00Z', to: '2025-01-01T01:00:00Z' }

    const dry = await engine.schedules.backfill('s', { ...range, dryRun: true })
    expect([dry.times.length, dry.runs.length]).toEqual([4, 0])
    const report = await engine.schedules.backfill('s', range)

    expect(report.runs.map(({ created }) => created)).toEqual([true, true, true, false])
    expect(await engine.runs.list({ workflow: 'nightly' })).toHaveLength(4)
  })

  it('keep their next time when what they start changes, and begin anew when their timing changes', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    const { nextAt } = await engine.schedules.put('s', { every: '1h', workflow: nightly })
    await clock.advance('30m')

    expect((await engine.schedules.put('s', { every: '1h', workflow: nightly, input: 1 })).nextAt).toEqual(
      nextAt,
    )
    expect((await engine.schedules.put('s', { every: '2h', workflow: nightly })).nextAt).toEqual(
      new Date('2025-01-01T02:30:00Z'),
    )
  })

  it('end with their until', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { every: '1h', workflow: nightly, until: '2025-01-01T02:00:00Z' })
    await clock.advance('5h')
    expect(await engine.schedules.history('s')).toHaveLength(2)
    expect(await engine.schedules.get('s')).toMatchObject({ status: 'ended', nextAt: undefined })
  })

  it('are delayed by a jitter of their own, which the preview tells', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await engine.schedules.put('s', { cron: '0 * * * *', workflow: nightly, jitter: '10m' })
    const [first] = await engine.schedules.preview('s', { count: 1 })
    await clock.advance('2h')
    const runs = await engine.runs.list({ workflow: 'nightly' })
    const late = runs.at(-1)!.createdAt.getTime() - first!.firesAt.getTime()
    expect(first!.firesAt.getTime()).toBeGreaterThan(first!.scheduledAt.getTime())
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(100)
  })

  it('go on after a firing whose input was refused, and keep why', async () => {
    const { clock, start, worker } = scheduled()
    const engine = await start()
    const errors: string[] = []
    const silent = () => {}
    const logger = { debug: silent, info: silent, warn: silent, error: (text: string) => errors.push(text) }
    await engine.schedules.put('s', { every: '1h', workflow: 'nightly' })
    const refuse = () => ({ issues: [{ message: 'too short' }] })
    const strict = define('nightly', {
      version: 2,
      input: { '~standard': { version: 1, vendor: 'test', validate: refuse } },
    }).step('report', { run: () => 1 })
    const newer = await worker({ workflows: [strict], logger })
    await engine.stop()

    await clock.advance('2h')

    const history = await newer.schedules.history('s')
    expect(history).toMatchObject([
      { status: 'failed', runId: undefined, reason: expect.stringContaining('too short') },
      { status: 'failed', reason: expect.stringContaining('too short') },
    ])
    expect(errors).toContain('A firing of a schedule failed; the schedule goes on.')
  })

  it('are declared in code; one that is removed is paused, and goes on once it is declared again', async () => {
    const { clock, worker } = engines()
    const declared = [{ name: 'a', every: '1h', workflow: nightly }] as const
    const first = await worker({ workflows: [nightly], schedules: declared })
    await clock.advance('61m')
    expect(await first.schedules.history('a')).toHaveLength(1)
    await first.stop()

    const second = await worker({ workflows: [nightly], schedules: [] })
    expect(await second.schedules.get('a')).toMatchObject({ status: 'paused', declared: true })
    await second.stop()
    const third = await worker({ workflows: [nightly], schedules: declared })
    expect(await third.schedules.get('a')).toMatchObject({ status: 'active' })
  })

  it('change with the caller’s transaction', async () => {
    const { clock, adapter, start } = withTrigger()
    const engine = await start()
    await adapter
      .transaction(async (tx) => {
        await engine.schedules.put('a', { every: '1h', workflow: nightly }, { tx })
        throw new Error('no')
      })
      .catch(() => {})
    expect(await engine.schedules.get('a')).toBeUndefined()

    await adapter.transaction(async (tx) => {
      await engine.schedules.put('a', { every: '1h', workflow: nightly }, { tx })
      const fired = await engine.schedules.trigger('a', { tx })
      expect(fired.status).toBe('started')
      expect(await engine.schedules.pause('a', { tx })).toBe(true)
      expect(await engine.schedules.resume('a', { tx })).toBe(true)
      expect(await engine.schedules.get('a')).toBeUndefined()
    })
    await clock.advance('1s')
    expect(await engine.schedules.history('a')).toHaveLength(1)
    await adapter.transaction((tx) => engine.schedules.delete('a', { tx }))
    expect(await engine.schedules.get('a')).toBeUndefined()
    expect(await engine.runs.list({ workflow: 'nightly' })).toHaveLength(1)
  })

  it('a week of a thousand schedules over a change of clocks fires each once', async () => {
    const { clock, start } = scheduled()
    const engine = await start()
    await clock.advance('86d')
    for (let number = 0; number < 1_000; number += 1) {
      const cron = `${number % 60} 2 * * *`
      await engine.schedules.put(`s${number}`, { cron, timeZone: 'Europe/Zurich', workflow: nightly })
    }

    await clock.advance('167h')

    expect((await engine.runs.count({ workflow: 'nightly' })).count).toBe(7_000)
    const fired = iso(await engine.schedules.history('s5')).reverse()
    expect(fired.slice(1, 4)).toEqual([
      '2025-03-29T01:05:00.000Z',
      // The clocks skip 02:05.
      '2025-03-30T01:00:00.000Z',
      '2025-03-31T00:05:00.000Z',
    ])
  }, 60_000)
})

function withTrigger() {
  const bench = engines()
  return {
    ...bench,
    trigger: bench.engine({ workflows: [nightly] }),
    start: () => bench.worker({ workflows: [nightly] }),
  }
}
