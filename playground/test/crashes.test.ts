import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser, startBrowser } from '../../packages/dashboard/test/setup/browser.ts'
import { opened, sql } from './setup/opened.ts'

const RUNS = 60
const CRASHES = 30

describe.skipIf(noBrowser)(`crashes${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it(`the ledger balances after ${CRASHES} crashes at random moments of ${RUNS} runs, half of them undone`, async () => {
    const { page, complaints } = await opened(browser, 'A step fails, and is undone')
    const seed = Number(process.env['SAMPLE'] ?? 1)
    const random = randomFrom(seed)
    for (let n = 0; n < 3; n += 1) await page.getByRole('button', { name: 'Start 20' }).click()

    for (let crashes = 0; crashes < CRASHES; crashes += 1) {
      await page.waitForTimeout(random() * 700)
      const living = page.getByRole('button', { name: 'Crash', disabled: false })
      await living.first().waitFor()
      await living.nth(Math.floor(random() * (await living.count()))).click()
      await page.getByRole('button', { name: 'Add a worker' }).click()
    }
    await ended(page)

    // The outside world's own book: each order either has money and goods, or nothing.
    const orders = await sql(
      page,
      `select card, stock, entries, count(*) as orders from (
         select sum(amount) filter (where service = 'card') as card, sum(amount) filter (where service = 'stock') as stock,
           array_agg(what order by id) as entries
         from shop.ledger group by "order"
       ) o group by card, stock, entries order by card`,
    )
    const half = String(RUNS / 2)
    expect({ seed, orders }).toEqual({
      seed,
      orders: [
        ['0', '0', '["take","charge","refund","put back"]', half],
        ['4200', '1', '["take","charge"]', half],
      ],
    })
    expect(complaints()).toEqual([])
  })
})

/** All runs have ended. */
async function ended(page: Page): Promise<void> {
  for (;;) {
    const rows = await sql(
      page,
      `select count(*) filter (where finished_at is not null) as ended, count(*) as runs from belay.workflow_runs`,
    )
    if (rows[0]?.[0] === String(RUNS)) return
    await page.waitForTimeout(500)
  }
}

/** Mulberry32: the same seed gives the same moments. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
