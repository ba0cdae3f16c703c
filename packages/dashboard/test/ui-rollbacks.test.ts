import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { ParkedPage } from '../src/api/parked.ts'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { isAt, press, pressUntil, tabTo } from './setup/keyboard.ts'
import { LOOKS, onScreen, pageAt, startPages } from './setup/pages.ts'
import { HOSTILE, type Parked, parked, refunds } from './setup/parked.ts'

onScreen('parked undos', () => {
  let at: Parked
  let url: string
  beforeAll(async () => {
    at = await parked(7, { items: true, isShared: true })
    url = await startPages(at.worker)
  }, 60_000)

  const open = (options = {}, of = url) =>
    pageAt(`${of}rollbacks`, options, (page) => page.getByRole('heading', { name: '10 parked undos' }))
  const group = (page: Page, error: string) =>
    page.locator('.cause').filter({ has: page.getByText(error, { exact: true }) })
  const orders = (page: Page) =>
    group(page, 'PermanentError: refunds are closed').filter({ hasText: 'order v3' })

  it.each(LOOKS)(
    'no finding of axe, no complaint, no sideways scrolling, markup is text: %s, %s',
    async (colorScheme, size) => {
      const { page, complaints } = await open({ colorScheme, viewport: SIZES[size] })
      const hostile = group(page, `PermanentError: ${HOSTILE}`)
      await hostile.locator('summary').click()
      await hostile.getByRole('link', { name: HOSTILE }).waitFor()
      expect(await axeFindings(page)).toEqual([])
      expect(await sideways(page)).toBe(0)
      expect(await page.locator('img').count()).toBe(0)
      expect(complaints()).toEqual([])
    },
  )

  it('tells of each cause what it is, what stays, and where all its runs are', async () => {
    const { page } = await open()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      '9 runs with 10 parked undos, in 3 groups',
    )
    await orders(page)
      .getByText('Still in the world: 14 effects of 7 runs. The undo was tried 1 time in each.')
      .waitFor()
    expect(await orders(page).getByRole('listitem').count()).toBe(5)
    await orders(page).getByRole('link', { name: 'All parked runs of order v3' }).click()
    await page.getByRole('link', { name: 'order:0' }).waitFor()
    expect(new URL(page.url()).search).toBe('?workflow=order&version=3&status=compensation_failed')
  })

  it('items of a map are settled one at a time, and the group says why', async () => {
    const { page } = await open()
    const items = page.locator('.cause').filter({ hasText: 'parcels v1' })
    await items.getByText('Different items of one map: ').waitFor()
    await items.locator('summary').click()
    expect(await items.getByRole('button').evaluateAll((all) => all.map((one) => one.ariaLabel))).toEqual([
      'Retry the undo… each[0] of parcels:1',
      'Mark as undone… each[0] of parcels:1',
      'Retry the undo… each[2] of parcels:1',
      'Mark as undone… each[2] of parcels:1',
    ])
  })

  it('whoever may only retry sees the other button, and why it is off', async () => {
    const own = await startPages(at.worker, ['payloads.read', 'undo.retry'])
    const { page } = await open({}, own)
    expect(await orders(page).getByRole('button', { name: 'Retry 7…' }).isEnabled()).toBe(true)
    const mark = orders(page).getByRole('button', { name: 'Mark 7 as undone…' })
    expect(await mark.isDisabled()).toBe(true)
    expect(await mark.getAttribute('title')).toContain('you lack undo.skip')
  })

  it('says how many are read so far, and why a repair is not counted', async () => {
    const { page } = await pageAt('about:blank')
    await page.route('**/api/parked', async (route) => {
      const answer = (await (await route.fetch()).json()) as ParkedPage
      await route.fulfill({ json: { ...answer, read: 200, runs: { count: 1_000, capped: true } } })
    })
    await page.route('**/api/repairs', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 409, json: { code: 'conflict', message: HOSTILE } })
        : route.continue(),
    )
    await page.goto(`${url}rollbacks`)
    await page.getByText('Read 200 of 1,000+ parked runs. The others follow.').waitFor()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      '1,000+ runs with parked undos, in 3 groups',
    )
    await orders(page).getByRole('button', { name: 'Retry 7…' }).click()
    await page.getByRole('alert').getByText(HOSTILE).waitFor()
  })

  it('by keyboard alone: all of a group, then the others, until nothing is parked', async () => {
    refunds.open = true
    const { page, complaints } = await open()
    await press(page, 'g', 'r')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await press(page, 'g', 'b')
    await page.getByRole('heading', { name: '10 parked undos' }).waitFor()
    await tabTo(page, 'Retry 7… charge of order v3', 'main')
    await press(page, 'Enter')
    await page.getByText('Reason, kept in the history of all these runs').waitFor()
    await tabTo(page, 'Reason', 'main')
    await page.keyboard.type('the bank is open')
    await press(page, 'Enter')
    await page.locator('.repair-steps').getByText('7 runs were told to undo charge again.').waitFor()
    await press(page, 'g', 'b')
    await page.getByRole('heading', { name: '2 runs with 3 parked undos, in 2 groups' }).waitFor()
    await pressUntil(page, 'Tab', async () => {
      if (await isAt(page, 'Still in the world', 'details:not([open])')) await press(page, 'Enter')
      return (await page.locator('.cause details:not([open])').count()) === 0
    })
    await settle(page, `Mark as undone… charge of ${HOSTILE}`)
    await settle(page, 'Retry the undo… each[0]')
    await settle(page, 'Retry the undo… each[2]')
    await page.getByRole('heading', { name: 'No undo is parked' }).waitFor()
    await page.getByText('by ada: paid back by hand').waitFor()
    expect(complaints()).toEqual([])
  })

  /** One undo, in the dialog of its row. */
  async function settle(page: Page, button: string): Promise<void> {
    await tabTo(page, button, 'main')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Asking what would happen…').waitFor({ state: 'detached' })
    await tabTo(page, 'Reason', 'dialog')
    await page.keyboard.type('paid back by hand')
    await press(page, 'Enter')
    await dialog.getByRole('button', { name: 'Close' }).waitFor()
    await press(page, 'Escape')
    await page.getByRole('button', { name: button }).waitFor({ state: 'detached' })
  }
})
