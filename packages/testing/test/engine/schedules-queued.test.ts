import { define, type Engine } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { scheduleOfKey } from '../../../workflow/src/engine/schedules/prepare-runs.ts'
import { engines, StoppableClock } from './bench-of-engines.ts'

/** Waits an hour, so that it overlaps. It does not end when somebody looks anyway. */
const slow = define('slow', { version: 1 })
  .step('begin', { run: () => 'begun' })
  .sleep('long', { dependsOn: ['begin'], for: '3610s' })

/** How long after the end of one run the next one was made, in milliseconds. */
async function gaps(engine: Engine): Promise<readonly number[]> {
  const runs = [...(await engine.runs.list({ workflow: 'slow' }))].reverse()
  return runs.slice(1).map((run, n) => run.createdAt.getTime() - runs[n]!.finishedAt!.getTime())
}

/** Puts a schedule whose second and third firings wait for the run of the first. */
async function queued(engine: Engine, name: string) {
  await engine.schedules.put(name, { every: '25m', workflow: slow, overlap: 'queue' })
}

describe('a firing that waits', () => {
  it.each(['nightly', 'of: a\nuser:2026-03-01T02:00:00.000Z', '__proto__', 'x'.repeat(200)])(
    'starts at the moment in which the run before it ends, in the schedule %j',
    async (name) => {
      const { clock, worker } = engines()
      const engine = await worker({ workflows: [slow] })
      await queued(engine, name)

      await clock.advance('210m')

      const waited = await gaps(engine)
      expect(waited.length).toBeGreaterThanOrEqual(2)
      // The ends of runs are followed at once; the look would come 30 s later.
      for (const ms of waited) expect(ms).toBeLessThan(20)
    },
  )

  it('starts at once after a run that was triggered, and after one that an operator cancelled', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slow] })
    await engine.schedules.put('s', { cron: '0 0 1 1 *', workflow: slow, overlap: 'queue' })
    const first = await engine.schedules.trigger('s')
    const second = await engine.schedules.trigger('s')
    await clock.advance('30m')

    await engine.cancel(first.runId!)
    await clock.advance(5_000)

    expect([first.status, second.status]).toEqual(['started', 'queued'])
    expect((await engine.schedules.history('s'))[0]).toMatchObject({ status: 'started' })
  })

  it('starts soon if the worker that ended the run dies before it has followed the end', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { findRunEnds } = adapter
    const stoppable = new StoppableClock(clock)
    const dying = engine({ clock: stoppable, workflows: [slow] })
    await dying.start()
    await queued(dying, 's')
    adapter.findRunEnds = () => new Promise(() => {})
    await clock.advance((85 * 60 + 11) * 1_000)
    const [ended, ...later] = await dying.runs.list({ workflow: 'slow' })
    stoppable.stop()
    adapter.findRunEnds = findRunEnds
    const other = await worker({ workflows: [slow] })
    await clock.advance(2_000)

    expect([ended!.status, later]).toEqual(['completed', []])
    expect((await gaps(other))[0]).toBeLessThan(2_000)
  })

  it('stays where it is while its schedule is paused, and starts after it was resumed', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slow] })
    await queued(engine, 's')
    await clock.advance('60m')
    await engine.schedules.pause('s')
    await clock.advance('60m')
    const during = await engine.runs.list({ workflow: 'slow' })
    await engine.schedules.resume('s')
    await clock.advance('1m')

    expect(during).toHaveLength(1)
    expect(await engine.runs.list({ workflow: 'slow' })).toHaveLength(2)
  })

  it('is found by the look if the run before it does not report its end', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slow] })
    await engine.schedules.put('s', { every: '25m', workflow: slow, overlap: 'skip' })
    await clock.advance('26m')
    await engine.schedules.put('s', { every: '25m', workflow: slow, overlap: 'queue' })
    await clock.advance('80m')

    const [waited] = await gaps(engine)
    expect(waited).toBeLessThanOrEqual(31_000)
  })

  it('is not started by the end of a run whose own key looks like that of a schedule', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slow] })
    await queued(engine, 's')
    await clock.advance('51m')
    const before = await engine.schedules.history('s')
    const alike = await engine.run(slow, undefined, { key: 'schedule:s:2020-01-01T00:00:00.000Z' })
    await engine.cancel(alike.id)
    await clock.advance(1_000)

    expect(await engine.schedules.history('s')).toEqual(before)
  })
})

describe('the schedule of a key', () => {
  it.each([
    ['schedule:s:2026-03-01T02:00:00.000Z', 's'],
    ['schedule:a:b:0192ffff-0000-7000-8000-00000000000a', 'a:b'],
    ['schedule:s:+010000-03-01T02:00:00.000Z', 's'],
    ['schedule:s', undefined],
    ['schedule::2026-03-01T02:00:00.000Z', undefined],
    ['schedule:s:now', undefined],
    ['order:1', undefined],
    ['', undefined],
  ])('%s is %s', (key, name) => {
    expect(scheduleOfKey(key)).toBe(name)
  })

  it('is found in a key of any length without a delay', () => {
    expect(scheduleOfKey(`schedule:${':'.repeat(10_000)}`)).toBeUndefined()
  })
})
