import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser, startBrowser } from '../../packages/dashboard/test/setup/browser.ts'
import { opened, plays, said, sql } from './setup/opened.ts'

const ENTRIES = `select service, what, calls from shop.ledger order by id`

describe.skipIf(noBrowser)(`threads${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('a frozen worker loses its step to another, and its late result is discarded', async () => {
    const { page, complaints } = await opened(browser, 'Crash in a step')
    await page.getByRole('button', { name: 'Start a run' }).click()
    const worker = page.getByRole('region', { name: 'Workers' }).getByRole('listitem')
    const charging = worker.filter({ hasText: 'chargeCard' })
    await charging.getByRole('button', { name: 'Freeze' }).click()

    await said(page, /gives chargeCard back to the queue/)
    await said(page, /ends the run .*: completed/)
    await said(page, /comes too late with chargeCard: .* its result is discarded/)
    await expect
      .poll(() => sql(page, ENTRIES))
      .toEqual([
        ['stock', 'take', '1'],
        ['card', 'charge', '2'],
        ['mail', 'Thank you', '1'],
      ])
    expect(complaints()).toEqual([])
  })

  it('while the database is cut off nothing is half done, and afterwards all runs end', async () => {
    const { page, complaints } = await opened(browser, 'Crash in a step')
    await page.getByRole('button', { name: 'Start 20' }).click()
    await said(page, /runs chargeCard/)
    await page.getByRole('button', { name: 'Cut the database' }).click()

    await said(page, /cannot reach the database/)
    await said(page, /reaches the database again/)
    await allEnded(page, 20)
    expect(await sql(page, SUMS)).toEqual([['4200', '1', '20']])
    expect(complaints()).toEqual([])
  })

  it('a reload in the middle of runs goes on with them', async () => {
    const { page, complaints } = await opened(browser, 'Crash in a step')
    await page.getByRole('button', { name: 'Start 20' }).click()
    await said(page, /runs chargeCard/)
    await page.reload()
    await plays(page)

    await said(page, /continues where this page left off/)
    await allEnded(page, 20)
    expect(await sql(page, SUMS)).toEqual([['4200', '1', '20']])
    expect(complaints()).toEqual([])
  })

  it('opens without a network once it was loaded', async () => {
    const { page, complaints } = await opened(browser)
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    await page.context().setOffline(true)
    await page.reload()
    await plays(page)
    expect(complaints()).toEqual([])
  })

  it('a second tab says that the first has the database', async () => {
    const { page } = await opened(browser)
    const second = await page.context().newPage()
    await second.goto(page.url())
    await second.getByText(/Another tab has this database open/).waitFor()
  })
})

const SUMS = `
select card, stock, count(*) from (
  select sum(amount) filter (where service = 'card') as card, sum(amount) filter (where service = 'stock') as stock
  from shop.ledger group by "order") o group by card, stock`

async function allEnded(page: Page, runs: number): Promise<void> {
  await expect
    .poll(() => sql(page, `select count(*) from belay.workflow_runs where finished_at is not null`))
    .toEqual([[String(runs)]])
}
