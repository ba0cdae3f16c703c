import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser, startBrowser } from '../../packages/dashboard/test/setup/browser.ts'
import { opened, plays, sql } from './setup/opened.ts'

const OF = 10_000
/** A minute on two cores; a busy machine may take ten times as long. */
const HUNG_MS = 600_000

describe.skipIf(noBrowser)(`many runs${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('of 10,000 runs each has its effects once, also if a worker crashes, and the figure is the number of those that have ended', {
    timeout: HUNG_MS,
  }, async () => {
    const { page, complaints } = await opened(browser, 'Crash in a step')
    // A run that was under way before is none of them.
    await page.getByRole('button', { name: 'Start a run' }).click()
    await page.getByRole('button', { name: '10,000 runs' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Start them' }).click()

    const figure = page.locator('.many')
    await figure.filter({ hasText: /[1-9]\d{2,} of|,\d+ of/ }).waitFor({ timeout: HUNG_MS })
    const crashed = page.getByRole('button', { name: 'Crash worker two' })
    await crashed.click()
    await page.getByRole('button', { name: 'Add a worker' }).click()

    await figure.getByText(/^10,000 of 10,000 runs have ended$/).waitFor({ timeout: HUNG_MS })
    expect(await sql(page, ENDED)).toEqual([['completed', String(OF + 1)]])
    expect(await sql(page, ORDERS)).toEqual([['4200', '1', '["take","charge","Thank you"]', String(OF + 1)]])
    await page.getByText(`It balances: ${OF + 1} sold, 0 undone.`).waitFor()
    expect(complaints()).toEqual([])
  })

  it('other code ends the starting of them, and the page says so', async () => {
    const { page, complaints } = await opened(browser, 'Crash in a step')
    await page.getByRole('button', { name: '10,000 runs' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Start them' }).click()
    await page
      .locator('.many')
      .filter({ hasText: /\d started/ })
      .waitFor()
    await page.getByLabel('Example').selectOption({ label: 'Two ways' })

    await page.getByRole('alert').filter({ hasText: 'Other code plays now: ask again.' }).waitFor()
    await plays(page)
    await page.locator('.many').filter({ hasNotText: 'runs/s' }).waitFor()
    await page.getByRole('button', { name: '10,000 runs', disabled: false }).waitFor()
    expect(complaints()).toEqual([])
  })
})

const ENDED = `select status, count(*) from belay.workflow_run_overview group by status`

const ORDERS = `
select card, stock, entries, count(*) from (
  select sum(amount) filter (where service = 'card') as card, sum(amount) filter (where service = 'stock') as stock,
    array_agg(what order by id) as entries
  from shop.ledger group by "order"
) o group by card, stock, entries`
