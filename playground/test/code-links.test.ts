import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { noBrowser, startBrowser, visit } from '../../packages/dashboard/test/setup/browser.ts'
import { PRESETS } from '../src/presets/index.ts'
import { opened, plays, sql, write, written } from './setup/opened.ts'

const [CRASH] = PRESETS
const UNDO = PRESETS.find(({ name }) => name === 'undo')!

describe.skipIf(noBrowser)(`links to code${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('changed code is kept, and a link carries it to somebody else, who plays it after having seen it', async () => {
    const { page, complaints } = await opened(browser, UNDO.title)
    const changed = UNDO.code.replace('trip:', 'journey → ')
    await write(page, changed)
    await page.reload()
    await page.getByLabel('Example').selectOption({ label: UNDO.title })
    expect(await written(page)).toBe(changed)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText(/Copied|in the address bar/).waitFor()
    await plays(page)
    expect(complaints()).toEqual([])

    const other = await visit(browser, page.url())
    await plays(other.page)
    expect(await written(other.page)).toBe(changed)
    expect(await other.page.getByLabel('Example').inputValue()).toBe('undo')
    await startAndSee(other.page, 'trip:1')
    await other.page.getByText('read it, then play it').waitFor()
    await other.page.getByRole('button', { name: 'Play this code' }).click()
    await other.page.getByText('Loading the code').waitFor({ state: 'detached' })
    expect(await other.page.getByText('read it, then play it').count()).toBe(0)
    await startAndSee(other.page, 'journey → 2')
    expect(other.complaints()).toEqual([])

    await page.getByRole('button', { name: 'Back to the example' }).click()
    await page.reload()
    await page.getByLabel('Example').selectOption({ label: UNDO.title })
    expect(await written(page)).toBe(UNDO.code)
  })

  it.each([
    ['#code=broken', 'The code in this link cannot be read: was the link cut off?'],
    ['#code=%F0', 'The code in this link cannot be read: was the link cut off?'],
    ['#preset=nothing', 'There is no example "nothing".'],
  ])('a link that cannot be read says so, and the first example plays: %s', async (fragment, told) => {
    const { page, complaints } = await visit(browser, inject('playground') + fragment)
    await page.getByText(told).waitFor()
    await plays(page)
    expect(await written(page)).toBe(CRASH.code)
    expect(complaints()).toEqual([])
  })

  it('changed steps get a version of their own, and runs of the earlier code wait for it', async () => {
    const { page, complaints } = await opened(browser, 'A person decides')
    await page.getByRole('button', { name: 'Start a run' }).click()
    while ((await sql(page, 'select count(*) from belay.workflow_runs'))[0]?.[0] !== '1')
      await page.waitForTimeout(100)
    const [, , , approval] = PRESETS
    await write(page, approval!.code.replace('.approval(', ".sleep('pause', { for: '1s' })\n  .approval("))
    await page.getByRole('button', { name: 'Play this code' }).click()
    await page.getByText(/1 run cannot go on.*wait until their code plays again/).waitFor()
    await page.getByRole('button', { name: 'Start a run' }).click()
    await page.getByText(/a version of its own, as in development: version 1\d{9} of purchase/).waitFor()
    await page.getByRole('button', { name: 'Back to the example' }).click()
    await page.getByText(/1 run cannot go on.*version 1\d{9}|version 1\d{9}.*1 run cannot go on/).waitFor()
    expect(complaints()).toEqual([])
  })
})

async function startAndSee(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Start a run' }).click()
  await page.getByRole('region', { name: 'Runs' }).getByText(key).first().waitFor()
}
