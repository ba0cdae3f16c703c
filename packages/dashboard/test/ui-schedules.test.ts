import { define } from '@belay/workflow'
import { beforeAll, expect, it, vi } from 'vitest'
import { axeFindings, SIZES, sideways, THEMES } from './setup/browser.ts'
import { isAt, press, pressUntil, tabTo } from './setup/keyboard.ts'
import { onScreen, pageAt, shown, startPages } from './setup/pages.ts'
import { HOSTILE, type Planned, planned, registered, report } from './setup/planned.ts'
import { gates, STATUSES } from './setup/statuses.ts'
import { testStore } from './setup/store.ts'

const XSS = '<img src=x onerror=alert(2)>'
const pictures = process.env['BELAY_PICTURES']

onScreen('schedules and workers', () => {
  let at: Planned
  let url: string

  beforeAll(async () => {
    at = await planned({ isShared: true })
    const run = await at.caller.run(report, undefined, { key: XSS, tags: ['schedule:hourly-sync'] })
    await at.fired('hourly-sync', [
      { hoursAgo: 9, untilHoursAgo: 6, status: 'missed', reason: 'No worker looked in time.' },
      { hoursAgo: 5, status: 'started', runId: '01a20ed2-e956-710f-9b00-026f0a2afc59' },
      { hoursAgo: 3, status: 'started', runId: run.id },
      { hoursAgo: 2, status: 'skipped', reason: 'Run 1 is live.' },
      { hoursAgo: 1, status: 'failed', reason: XSS },
    ])
    await registered(at, { name: 'orders-1', leaseS: 3_000, busy: 17 })
    await registered(at, { name: XSS, leaseS: -4, busy: 20 })
    await registered(at, { name: 'orders-0', status: 'dead', leaseS: -60 })
    const labels = define('render-labels', { version: 4 }).step('draw', { run: () => 1 })
    await at.engine({ workflows: [labels] }).run(labels, undefined)
    url = await startPages(at.caller)
  }, 60_000)

  const open = async (path: string, options = {}) => {
    const seen = await pageAt(url + path, options)
    await seen.page.getByText('Press').first().waitFor({ state: 'attached' })
    return seen
  }
  const one = (name: string) => `schedules/${encodeURIComponent(name)}`

  const SCREENS: readonly (readonly [name: string, path: string, shows: string, action?: string])[] = [
    ['schedules', 'schedules', 'late by'],
    ['schedule', one('hourly-sync'), 'It fires next at'],
    ['schedule-hostile', one(HOSTILE), HOSTILE],
    ['schedule-unknown', one('nobody/1'), 'There is no such schedule'],
    ['pause', one('nightly-report'), 'It would be paused', 'Pause…'],
    ['backfill', one('nightly-report'), 'Count the runs', 'Backfill…'],
    ['workers', 'workers', 'No live worker has handlers for render-labels v4'],
    ['health-with-workers', 'health', '1 worker live, 17 of 20 slots taken; 1 silent, 1 dead.'],
  ]
  for (const [name, path, shows, action] of SCREENS)
    it(`${name}: no finding of axe in either theme, wide and narrow, no complaint, no sideways scrolling`, async () => {
      const { page, complaints } = await open(path)
      if (action) await page.getByRole('button', { name: action, exact: true }).click()
      await shown(page, shows)
      for (const [size, viewport] of Object.entries(SIZES)) {
        await page.setViewportSize(viewport)
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          expect(await axeFindings(page), `${size} ${colorScheme}`).toEqual([])
          if (pictures !== undefined)
            await page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: true })
        }
        expect(await sideways(page)).toBe(0)
      }
      expect(complaints(/Failed to load resource/)).toEqual([])
    })

  it('by keyboard alone: pause a schedule, see it paused, resume it', async () => {
    const { page, complaints } = await open('health')
    await press(page, 'g', 's')
    await shown(page, 'Newest firing')
    await tabTo(page, 'Pause… nightly-report')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It would be paused').waitFor()
    await tabTo(page, 'Reason')
    await page.keyboard.type('figures are wrong')
    await press(page, 'Enter')
    await dialog.getByText('It is paused.').waitFor()
    await press(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'nightly-report' }).getByText('figures are wrong').waitFor()
    expect((await at.caller.schedules.get('nightly-report'))?.pauseReason).toBe('figures are wrong')
    await pressUntil(page, 'Shift+Tab', () => isAt(page, 'nightly-report', 'td:first-child'))
    await press(page, 'Enter')
    await shown(page, /It has been paused since .* \(figures are wrong\)/)
    await tabTo(page, 'Resume…')
    await press(page, 'Enter')
    await dialog.getByText('It would go on, and fires next at').waitFor()
    await tabTo(page, 'Resume it')
    await press(page, 'Enter')
    await dialog.getByText('It goes on.').waitFor()
    await press(page, 'Escape')
    await page.getByRole('button', { name: 'Pause…' }).waitFor()
    expect((await at.caller.schedules.get('nightly-report'))?.status).toBe('active')
    expect(complaints()).toEqual([])
  })

  it('by keyboard alone: count a backfill, start it; a range without end is refused', async () => {
    const { page, complaints } = await open(one('nightly-report'))
    await tabTo(page, 'Backfill…')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog')
    const first = dialog.getByLabel('First time, in Europe/Berlin')
    await first.fill('2020-01-01T00:00')
    await tabTo(page, 'Count the runs')
    await press(page, 'Enter')
    await dialog.getByText(/^more than 1000 times lie between/).waitFor()
    const ago = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10)
    await first.fill(`${ago}T12:00`)
    await tabTo(page, 'Count the runs')
    await press(page, 'Enter')
    await dialog.getByText(/^[234] times: the first at/).waitFor()
    expect((await at.caller.runs.count({ tags: ['schedule:nightly-report'] })).count).toBe(0)
    await tabTo(page, 'Start these runs')
    await press(page, 'Enter')
    await dialog.getByText(/^[234] runs were started\.$/).waitFor()
    await press(page, 'Escape')
    await page.getByText('Backfill', { exact: true }).first().waitFor()
    expect((await at.caller.runs.count({ tags: ['schedule:nightly-report'] })).count).toBeGreaterThan(1)
    expect(complaints()).toEqual([])
  })

  it('both zones are right on the night when the clocks go back', async () => {
    const { page } = await open('schedules', { timezoneId: 'America/New_York' })
    // The server sends instants; the browser knows the zones.
    await page.route('**/api/schedules/nightly-report', async (route) => {
      const answer = await (await route.fetch()).json()
      const times = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((text) => Date.parse(text))
      const json = { ...answer, times: times.map((time) => ({ at: time, firesAt: time })) }
      await route.fulfill({ json })
    })
    await page.getByRole('link', { name: 'nightly-report' }).click()
    const rows = page.getByRole('table', { name: 'The next times' }).getByRole('row')
    await rows.nth(2).waitFor()
    const cells = async (row: number) => (await rows.nth(row).locator('th, td').allTextContents()).slice(0, 2)
    expect(await cells(0)).toEqual(['Europe/Zurich', 'America/New_York (this page)'])
    expect(await cells(1)).toEqual(['Sun 25 Oct 02:30 GMT+2', 'Sat 24 Oct 20:30 GMT-4'])
    expect(await cells(2)).toEqual(['Sun 25 Oct 02:30 GMT+1', 'Sat 24 Oct 21:30 GMT-4'])
  })

  it('the calendar has each day once where one has 25 hours, and its hours stay on the clock', async () => {
    const { page } = await open('runs', { timezoneId: 'America/New_York' })
    const now = Date.parse('2026-10-31T20:00:00Z')
    await page.route('**/api/schedules', async (route) => {
      const answer = await (await route.fetch()).json()
      const calendar = { readAt: now, from: now - 12 * 3_600_000, until: now + 48 * 3_600_000 }
      const first = {
        ...answer.schedules[0],
        name: '<b>first</b>',
        nextAt: now + 1,
        ahead: [now + 1],
        past: [],
      }
      await route.fulfill({ json: { ...answer, ...calendar, schedules: [first] } })
    })
    await press(page, 'g', 's')
    const calendar = page.getByRole('img', { name: 'Firings from Sat 31 Oct 04:00 GMT-4' })
    await calendar.waitFor()
    // Those nearest to the present give way to it.
    expect(await calendar.locator('.axis').allTextContents()).toEqual([
      ...['06:00', '12:00', 'Sun 1 Nov', '06:00', '12:00', '18:00', 'Mon 2 Nov', '06:00', '12:00'],
      'now 16:00',
    ])
    const ticks = await calendar
      .locator('.axis')
      .evaluateAll((all) => all.map((one) => Number(one.getAttribute('x'))))
    const [, , day = 0, six = 0, noon = 0] = ticks
    // Seven hours, then six.
    expect((six - day) / (noon - six)).toBeCloseTo(7 / 6, 2)
    expect(await calendar.getAttribute('aria-label')).toContain('<b>first</b>: 0 firings, 1 to come')
  })

  it('pages go on after any name, and back to the first', async () => {
    const { page } = await open('schedules?limit=1')
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'each-minute' }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('link', { name: 'First' }).click()
    await page.getByRole('link', { name: HOSTILE }).click()
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
  })

  it('who may not act sees that, and why', async () => {
    const read = await startPages(at.caller, [])
    const { page } = await pageAt(`${read}schedules`)
    const pause = page.getByRole('button', { name: 'Pause… nightly-report' })
    await pause.waitFor()
    await vi.waitFor(
      async () => expect(await pause.getAttribute('title')).toContain('schedules.pause'),
      10_000,
    )
    expect(await pause.isDisabled()).toBe(true)
  })

  it('by keyboard alone: what a worker holds, and its run', async () => {
    const store = await testStore()
    const { running } = STATUSES
    const worker = store.engine({ workflows: [running], name: 'orders' })
    await worker.start()
    const run = await worker.run(running, undefined, { key: 'held' })
    await vi.waitFor(async () => {
      const [first] = await worker.workers.list()
      expect(await worker.workers.holds(first!.id)).toHaveLength(1)
    }, 20_000)
    const own = await startPages(worker)
    const { page, complaints } = await pageAt(`${own}health`)
    await shown(page, '1 worker live')
    await press(page, 'g', 'w')
    await shown(page, 'Lease left')
    await tabTo(page, 'What orders holds')
    await press(page, 'Enter')
    await shown(page, /^attempt 1, for/)
    await press(page, 'Tab', 'Enter')
    await page.getByRole('heading', { name: 'held' }).waitFor()
    expect(complaints()).toEqual([])
    gates.run.open()
    await run.result()
  })
})
