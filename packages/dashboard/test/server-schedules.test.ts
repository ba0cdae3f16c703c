import { define } from '@belay/workflow'
import { beforeAll, describe, expect, test } from 'vitest'
import type {
  ScheduleActionRequest,
  ScheduleActionResult,
  SchedulePage,
  SchedulesPage,
} from '../src/api/schedules.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { HOSTILE, type Planned, planned, report } from './setup/planned.ts'

const HOUR_MS = 3_600_000
const path = (name: string) => `schedules/${encodeURIComponent(name)}`

describe('what is planned', () => {
  let at: Planned

  beforeAll(async () => {
    at = await planned({ isShared: true })
    await at.fired('hourly-sync', [
      { hoursAgo: 30, status: 'started', runId: '01a20ed2-e956-710f-9b00-026f0a2afc59' },
      { hoursAgo: 20, untilHoursAgo: 10, status: 'missed', reason: 'No worker looked in time.' },
      { hoursAgo: 2, status: 'skipped', reason: 'Run 1 is live.' },
      { hoursAgo: 1, status: 'failed', reason: 'Its input was refused: card 4711 has expired' },
    ])
  })

  test('a page of schedules, by name, with what fired and what will', async () => {
    const handler = opened({ engine: at.caller })
    const first = await read<SchedulesPage>(handler, 'schedules?limit=4')
    const names = (page: SchedulesPage) => page.schedules.map(({ name }) => name)
    expect(names(first)).toEqual([HOSTILE, 'each-minute', 'holiday-mail', 'hourly-sync'])
    expect(first.more).toBe(true)
    expect(first.until - first.from).toBe(60 * HOUR_MS)
    const [hostile, minute, holiday, hourly] = first.schedules
    expect(hostile).toMatchObject({ status: 'active', declared: false, timeZone: 'Asia/Kathmandu' })
    expect(hostile!.ahead).toHaveLength(2)
    expect(hostile!.ahead[0]).toBe(hostile!.nextAt)
    // Of each minute an hour is listed, and that there are more.
    expect(minute!.ahead).toHaveLength(60)
    expect(minute!.aheadUntil).toBe(minute!.ahead.at(-1))
    expect(holiday).toMatchObject({ status: 'paused', pauseReason: '<b>on holiday</b>' })
    expect(holiday!.nextAt).toBeUndefined()
    expect(holiday!.ahead).toHaveLength(2)
    expect(hourly!.past.map(({ status }) => status)).toEqual(['failed', 'skipped', 'missed'])
    expect(hourly!.ahead).toHaveLength(48)
    const after = await read<SchedulesPage>(handler, 'schedules?limit=4&after=hourly-sync')
    expect(names(after)).toEqual(['late-prices', 'nightly-report'])
    expect(after.more).toBe(false)
    expect(after.schedules[1]).toMatchObject({ declared: true })
    expect(after.schedules[0]!.nextAt!).toBeLessThan(after.readAt)
    const paused = await read<SchedulesPage>(handler, 'schedules?paused=true&workflow=report')
    expect(names(paused)).toEqual(['holiday-mail'])
    expect(paused.findings).toMatchObject([
      expect.stringContaining('late-prices'),
      expect.stringContaining('could not start a run'),
      expect.stringContaining('no live worker'),
    ])
  })

  test('of one schedule what it does next, ten times, and its firings', async () => {
    const page = await read<SchedulePage>(opened({ engine: at.caller }), path('hourly-sync'))
    expect(page.sentence).toMatch(/^It fires next at /)
    expect(page.times).toHaveLength(10)
    expect(page.firings.map(({ status, reason }) => [status, reason])).toEqual([
      ['failed', 'It could not start a run: Its input was refused: card 4711 has expired.'],
      ['skipped', 'Run 1 is live.'],
      ['missed', 'No worker looked in time.'],
      ['started', undefined],
    ])
    expect(page.schedule).toMatchObject({ overlap: 'queue', everyMs: HOUR_MS, firings: 4 })
    const hostile = await read<SchedulePage>(opened({ engine: at.caller }), path(HOSTILE))
    expect(hostile.schedule.name).toBe(HOSTILE)
    expect(hostile.times[0]!.firesAt).toBeGreaterThan(hostile.times[0]!.at)
  })

  test('why a firing failed may quote its input: without payloads.read nobody sees it', async () => {
    const blind = opened({ engine: at.caller }, [])
    const page = await read<SchedulePage>(blind, path('hourly-sync'))
    expect(page.firings[0]!.reason).toBe(
      'It could not start a run: only who may read payloads sees the reason.',
    )
    expect(JSON.stringify(await read(blind, 'schedules'))).not.toContain('4711')
    const redact = () => 'hidden by the host'
    const redacted = await read<SchedulePage>(opened({ engine: at.caller, redact }), path('hourly-sync'))
    expect(redacted.firings[0]!.reason).toBe('It could not start a run: hidden by the host.')
  })

  test.each([
    ['schedules?limit=51', 400],
    ['schedules?paused=maybe', 400],
    ['schedules?name=x', 400],
    [path('nobody'), 404],
    [path('x'.repeat(300)), 400],
  ])('%s is answered with %i', async (bad, status) => {
    expect((await get(opened({ engine: at.caller }), bad)).status).toBe(status)
  })
})

describe('acting on a schedule', () => {
  const asking =
    (handler: ReturnType<typeof opened>) => async (name: string, body: ScheduleActionRequest) => {
      const response = await post(handler, `${path(name)}/actions`, body)
      expect(response.status).toBe(200)
      return (await response.json()) as ScheduleActionResult
    }

  test('pause with a reason that the schedule keeps, and resume; a preview changes nothing', async () => {
    const at = await planned()
    const handler = opened({ engine: at.caller })
    const ask = asking(handler)
    const before = await at.caller.schedules.get('nightly-report')
    expect(await ask('nightly-report', { action: 'pause', dryRun: true })).toMatchObject({ changed: true })
    expect(await at.caller.schedules.get('nightly-report')).toEqual(before)
    await read(handler, path('nightly-report'))
    const pause = { action: 'pause', dryRun: false, reason: 'wrong figures' } as const
    expect(await ask('nightly-report', pause)).toEqual({ changed: true, sentence: 'It is paused.' })
    const page = await read<SchedulePage>(handler, path('nightly-report'))
    expect(page.schedule).toMatchObject({ status: 'paused', pauseReason: 'wrong figures' })
    expect(page.sentence).toContain('(wrong figures)')
    expect(await ask('nightly-report', pause)).toMatchObject({ changed: false })
    expect(await ask('nightly-report', { action: 'resume', dryRun: true })).toMatchObject({
      sentence: expect.stringMatching(/^It would go on, and fires next at .*Z\./),
    })
    expect(await ask('nightly-report', { action: 'resume', dryRun: false })).toMatchObject({ changed: true })
    expect(await ask('nightly-report', { action: 'resume', dryRun: false })).toMatchObject({ changed: false })
    expect((await at.caller.schedules.get('nightly-report'))?.status).toBe('active')
  })

  test('fire now: one run, whose place in the overlap is told before', async () => {
    const at = await planned()
    const ask = asking(opened({ engine: at.caller }))
    const fire = (name: string, dryRun: boolean) => ask(name, { action: 'fire', dryRun })
    expect(await fire('nightly-report', true)).toMatchObject({
      changed: true,
      sentence: expect.stringMatching(/^One run would/),
    })
    expect(await at.caller.runs.list()).toEqual([])
    const { runId } = await fire('nightly-report', false)
    expect((await at.caller.runs.list()).map(({ id }) => id)).toEqual([runId])
    expect(await fire('nightly-report', true)).toMatchObject({
      changed: false,
      sentence: expect.stringContaining(`run ${runId} is live`),
    })
    expect(await fire('nightly-report', false)).toMatchObject({ changed: false, refused: 'skipped' })
    await fire('hourly-sync', false)
    expect(await fire('hourly-sync', true)).toMatchObject({
      sentence: expect.stringMatching(/once run .* ended/),
    })
    expect(await fire('hourly-sync', false)).toMatchObject({
      changed: true,
      sentence: expect.stringMatching(/queued/),
    })
    await at.caller.schedules.put('replacing', { every: '1h', workflow: report, overlap: 'cancel-running' })
    await fire('replacing', false)
    expect(await fire('replacing', true)).toMatchObject({
      sentence: expect.stringMatching(/would be cancelled/),
    })
    expect(await at.caller.runs.list()).toHaveLength(3)
  })

  test('backfill: the preview tells how many, the first and the last; twice is once', async () => {
    const at = await planned()
    const ask = asking(opened({ engine: at.caller }))
    const [from, to] = [Date.parse('2026-03-28T00:00:00Z'), Date.parse('2026-03-31T00:00:00Z')]
    const range = { action: 'backfill', from, to } as const
    const sentence =
      '3 times: the first at 2026-03-28T02:00:00.000Z, the last at 2026-03-30T01:00:00.000Z. A run would be started for each that has not fired yet, all at once, whatever the overlap.'
    expect(await ask('nightly-report', { ...range, dryRun: true })).toEqual({ changed: true, sentence })
    expect(await at.caller.runs.list()).toEqual([])
    expect(await ask('nightly-report', { ...range, dryRun: false })).toMatchObject({
      sentence: '3 runs were started.',
    })
    expect(await ask('nightly-report', { ...range, dryRun: false })).toEqual({
      changed: false,
      sentence: '0 runs were started. 3 had fired already, and were not fired again.',
    })
    expect(await at.caller.runs.list()).toHaveLength(3)
    const swapped = { action: 'backfill', dryRun: true, from: to, to: from } as const
    expect(await ask('nightly-report', swapped)).toEqual({
      changed: false,
      sentence: 'from is after to. Exchange them.',
      refused: 'invalid_option',
    })
    const long = { action: 'backfill', dryRun: true, from: 0, to: from } as const
    expect(await ask('each-minute', long)).toMatchObject({
      refused: 'invalid_option',
      sentence: expect.stringMatching(/^more than 1000 times/),
    })
  })

  test('an input that the schema refuses is told to those who may read payloads', async () => {
    const at = await planned()
    const picky = define('picky', { version: 1 }).step('make', { run: () => 1 })
    const strict = define('picky', {
      version: 2,
      input: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => ({ issues: [{ message: 'card 4711 is unknown' }] }),
        },
      },
    }).step('make', { run: () => 1 })
    await at.engine({ workflows: [picky] }).schedules.put('picky', { every: '1h', workflow: picky })
    const engine = at.engine({ workflows: [strict] })
    await engine.start()
    const fire = { action: 'fire', dryRun: false } as const
    const told = await asking(opened({ engine }))('picky', fire)
    expect(told).toMatchObject({ changed: false, sentence: expect.stringContaining('card 4711 is unknown') })
    const hidden = await asking(opened({ engine }, ['schedules.fire']))('picky', fire)
    expect(hidden).toMatchObject({ changed: false, refused: told.refused })
    expect(hidden.sentence).not.toContain('4711')
  })

  test('who lacks the capability, another site, and bodies that ask for something else change nothing', async () => {
    const at = await planned()
    const engine = at.caller
    const to = `${path('nightly-report')}/actions`
    const bodies: readonly ScheduleActionRequest[] = [
      { action: 'fire', dryRun: false },
      { action: 'pause', dryRun: false, reason: 'why not' },
      { action: 'resume', dryRun: false },
      { action: 'backfill', dryRun: false, from: Date.now() - 9 * 24 * HOUR_MS, to: Date.now() },
    ]
    for (const body of bodies) {
      const own = body.action === 'fire' || body.action === 'backfill' ? 'schedules.fire' : 'schedules.pause'
      const other = own === 'schedules.fire' ? 'schedules.pause' : 'schedules.fire'
      for (const dryRun of [true, false]) {
        const response = await post(opened({ engine }, [other, 'runs.pause']), to, { ...body, dryRun })
        expect(response.status).toBe(403)
        expect(await response.text()).toContain(own)
      }
      const foreign = await post(opened({ engine }), to, body, { origin: 'https://evil.example' })
      expect(foreign.status).toBe(403)
      expect((await post(opened({ engine }), to, body, { 'x-belay': null })).status).toBe(403)
    }
    expect((await get(opened({ engine }), to)).status).toBe(405)
    expect((await post(opened({ engine }), 'schedules', bodies[0])).status).toBe(405)
    const range = { action: 'backfill', dryRun: false, from: 1, to: 2 }
    const hostile: readonly unknown[] = [
      ...[
        null,
        [],
        'fire',
        {},
        { action: 'delete', dryRun: false },
        { action: 'constructor', dryRun: false },
      ],
      { action: 'fire' },
      { action: 'fire', dryRun: 'no' },
      { action: 'fire', dryRun: false, by: 'eve' },
      { action: 'fire', dryRun: false, reason: 'nobody would keep it' },
      { action: 'pause', dryRun: false },
      { action: 'pause', dryRun: false, reason: ' ' },
      { action: 'pause', dryRun: false, reason: 'x'.repeat(1_001) },
      ...[{ from: '1' }, { from: -1 }, { to: 1.5 }, { to: 1e300 }, { to: undefined }].map((one) => ({
        ...range,
        ...one,
      })),
    ]
    for (const body of hostile) {
      const response = await post(opened({ engine }), to, body)
      expect([JSON.stringify(body), response.status]).toEqual([JSON.stringify(body), 400])
    }
    const unknown = await post(opened({ engine }), `${path('nobody')}/actions`, bodies[0])
    expect(unknown.status).toBe(404)
    expect(await engine.runs.list()).toEqual([])
    expect((await engine.schedules.get('nightly-report'))?.status).toBe('active')
  })
})
