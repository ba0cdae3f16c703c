import type { Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import type { Repair } from '../src/api/many.ts'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { idle, type Jobs, jobs, mail } from './setup/jobs.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { MAIN, onScreen, pageAt, pathOf, shown, startPages } from './setup/pages.ts'

const HOSTILE = '<img src=x onerror=alert(1)>'
const FAILED = 'workflow=job&status=failed'

onScreen('many runs, repaired', () => {
  let at: Jobs
  let url: string

  beforeAll(async () => {
    at = await jobs({ single: 38, children: 3 }, { isShared: true })
    url = await startPages(at.worker)
  }, 60_000)

  const open = (path: string, options = {}) => pageAt(url + path, options, MAIN)
  const figures = async (page: Page) => (await page.locator('.figures').textContent())!
  const isCounted = (page: Page) =>
    page.locator('.repair-steps > .done').getByRole('heading', { name: 'Counted' }).waitFor()
  /** The dry run of what the address asks for. */
  const count = async (page: Page) => {
    await shown(page, 'Which runs, and what to do')
    await tabTo(page, 'Count', 'main')
    await press(page, 'Enter')
    await isCounted(page)
    await vi.waitFor(() => expect(pathOf(page)).toMatch(/^repairs\/[0-9a-f-]{36}$/), 20_000)
  }
  const begin = async (page: Page, reason: string, sentence: RegExp) => {
    await tabTo(page, 'Reason', 'main')
    await page.keyboard.type(reason)
    await press(page, 'Enter')
    await page.locator('.repair-steps').getByText(sentence).waitFor()
  }

  it('has no findings and no sideways scrolling at each step, light and wide, dark and narrow', async () => {
    const { page, complaints } = await open(`repairs/new?query=${encodeURIComponent(FAILED)}`)
    const look = async () => {
      for (const [colorScheme, size] of [
        ['light', SIZES.wide],
        ['dark', SIZES.narrow],
      ] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(size)
        expect(await axeFindings(page, 'main')).toEqual([])
        expect(await sideways(page)).toBe(0)
      }
    }
    await page.getByRole('button', { name: '41 failed' }).waitFor()
    await look()
    await count(page)
    await shown(page, 'Retry 3 runs instead…')
    await look()
    await page.goto(`${url}runs?workflow=idle`)
    await page.getByRole('checkbox', { name: 'Select idle:1' }).check()
    await shown(page, '1 selected')
    await look()
    expect(complaints()).toEqual([])
  })

  it('without a filter it is refused, until all are asked for', async () => {
    const { page } = await open('repairs')
    await shown(page, 'Which runs, and what to do')
    await page.getByRole('button', { name: 'Count' }).click()
    await page.getByRole('alert').getByText('The filter is empty').waitFor()
    await page.getByRole('checkbox', { name: 'Without a filter: all failed and undone runs' }).check()
    await page.getByRole('button', { name: 'Count' }).click()
    await isCounted(page)
    expect(await figures(page)).toMatch(/match44/)
  })

  it('hostile texts stay texts', async () => {
    const { page, complaints } = await open(
      `repairs/new?${new URLSearchParams({ verb: 'skipCompensation', step: HOSTILE, query: `key=${HOSTILE}` })}`,
    )
    await count(page)
    await shown(page, `Mark ${HOSTILE} as undone`)
    await shown(page, `key:"${HOSTILE}"`)
    await shown(page, 'There is nothing to change.')
    await at.worker.run(idle, undefined, { key: HOSTILE })
    await page.goto(`${url}repairs/new?${new URLSearchParams({ verb: 'cancel', query: `key=${HOSTILE}` })}`)
    await count(page)
    await begin(page, HOSTILE, /^1 run was cancelled\.$/)
    await page.locator('.repair-steps > li:last-child').getByRole('link', { name: HOSTILE }).waitFor()
    expect(await page.locator('.repair-steps > li').nth(3).textContent()).toContain(HOSTILE)
    expect(await page.locator('img').count()).toBe(0)
    expect(complaints()).toEqual([])
  })

  it('a repair that this process does not know says where to look', async () => {
    const { page } = await open('repairs/0192aaaa-0000-7000-8000-000000000000')
    await page.getByRole('heading', { name: 'This repair is not known here' }).waitFor()
    await shown(page, /history of that run/)
  })

  it('by keyboard alone: chosen runs are paused, and a filter of the same page goes on', async () => {
    const { page, complaints } = await open('runs?workflow=idle&status=waiting')
    await shown(page, 'idle:1')
    await press(page, 'j', 'x', 'j', 'x')
    await shown(page, '2 selected')
    await press(page, 'x', 'a', 'Tab', 'Tab', 'Enter')
    await shown(page, '1 chosen run')
    await count(page)
    await begin(page, 'the partner asked for it', /^1 run was paused\.$/)
    expect((await at.worker.runs.count({ status: 'paused' })).count).toBe(1)
    await press(page, 'g', 'r')
    await shown(page, 'job:37')
    await press(page, 'j', 'x')
    await shown(page, '1 selected')
    await press(page, 'Escape')
    await page.locator('.selection').waitFor({ state: 'detached' })
    expect(complaints()).toEqual([])
  })

  it('by keyboard alone: 41 failed runs are retried, of which 3 are refused, and then their parents', async () => {
    mail.works = true
    const { page, complaints } = await open(`runs?${FAILED}`)
    await shown(page, 'job:37')
    await press(page, 'j', 'x', 'a')
    await tabTo(page, 'All that match', '.selection')
    await press(page, 'Enter')
    await count(page)
    expect(await figures(page)).toMatch(/match41.*would be retried38.*would be refused3/)
    await shown(page, 'batch:2')
    const counted = page.url()
    // A colleague sees the same, and so does a reload.
    const colleague = await open(pathOf(page))
    await shown(colleague.page, 'Retry 38 runs')
    await begin(page, 'the mail server is back', /^38 runs were retried\.$/)
    await colleague.page.getByText('38 runs were retried.').first().waitFor()
    await page.reload()
    await page.locator('.repair-steps').getByText('38 runs were retried.').waitFor()
    await shown(page, 'the mail server is back')
    await tabTo(page, 'Retry 3 runs instead', 'main')
    await press(page, 'Enter')
    await shown(page, '3 chosen runs')
    expect(page.url()).not.toBe(counted)
    await isCounted(page)
    await begin(page, 'the mail server is back', /^3 runs were retried\.$/)
    await vi.waitFor(async () => {
      expect((await at.worker.runs.count({ status: 'completed' })).count).toBe(44)
    }, 20_000)
    // A batch that goes forward again starts another job: the old one stays as it ended.
    expect((await at.worker.runs.count({ workflow: 'job', status: 'failed' })).count).toBe(3)
    const [other] = await page.evaluate(async () => {
      const response = await fetch(`${location.pathname.replace(/repairs.*/, '')}api/repairs`)
      return ((await response.json()) as { repairs: readonly Repair[] }).repairs
    })
    expect(other).toMatchObject({ state: 'done', begun: { by: 'ada' } })
    expect(complaints()).toEqual([])
  })
})
