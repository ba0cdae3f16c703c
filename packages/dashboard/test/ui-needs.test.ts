import { beforeAll, expect, it } from 'vitest'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { LOOKS, MAIN, onScreen, pageAt, startPages } from './setup/pages.ts'
import { type Shop, shop } from './setup/shop.ts'

onScreen('needs a person', () => {
  let at: Shop
  let url: string
  beforeAll(async () => {
    at = await shop({ isShared: true })
    url = await startPages(at.worker)
  }, 60_000)

  const open = (path = 'needs', options = {}) => pageAt(url + path, options, MAIN)

  it.each(LOOKS)('one list: undos first, then decisions: %s, %s', async (colorScheme, size) => {
    const { page, complaints } = await open('needs', { colorScheme, viewport: SIZES[size] })
    const items = page.getByRole('main').getByRole('listitem')
    await items.first().waitFor()
    expect(await items.nth(0).textContent()).toMatch(
      /The undo of “chargeCard” in fulfil-order v3 failed for good once: .*still in the world/,
    )
    expect(await items.nth(1).textContent()).toMatch(
      /“approveOrder” of fulfil-order waits for a decision in 1 run/,
    )
    expect(await axeFindings(page)).toEqual([])
    expect(await sideways(page)).toBe(0)
    expect(complaints()).toEqual([])
  })

  it('how much it is stands in the tab, on every screen, and each leads to where it ends, by keyboard alone', async () => {
    const { page, complaints } = await open('runs')
    await page.waitForFunction(() => document.title === '(2) Runs · Belay')
    const icon = () => page.locator('link[rel="icon"]').getAttribute('href')
    expect(await icon()).toContain('circle')
    await press(page, 'g', 'n')
    await page.waitForFunction(() => document.title === '(2) Needs a person · Belay')
    await tabTo(page, 'Decide')
    await press(page, 'Enter')
    await tabTo(page, 'Approve…')
    await press(page, 'Enter')
    await tabTo(page, 'Comment')
    await page.keyboard.type('known customer')
    await press(page, 'Enter')
    await page.getByText('Delivered').waitFor()
    await press(page, 'Escape')
    await page.waitForFunction(() => document.title === '(1) Approvals · Belay')
    await page.goto(`${url}runs/${at.runs['order:9185'].id}`)
    await page.waitForFunction(() => document.title === '(1) order:9185 · Belay')
    const run = at.worker.runs.handle(at.runs['order:9185'].id)
    await run.skipCompensation('chargeCard', { by: 'ada', reason: 'settled by phone' })
    await page.waitForFunction(() => document.title === 'order:9185 · Belay')
    expect(await icon()).not.toContain('circle')
    await press(page, 'g', 'n')
    await page.getByText('Nothing needs a person').waitFor()
    expect(complaints()).toEqual([])
  })
})
