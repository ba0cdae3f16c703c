import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { plays } from './setup/opened.ts'

const picture = (name: string) =>
  fileURLToPath(new URL(`../../docs/images/playground-${name}.webp`, import.meta.url))

const BYTES_MAX = 120_000

// Not compared: another version of Chromium draws other pixels.
it.skipIf(process.env['BELAY_SCREENSHOTS'] === undefined)(
  'the crash in pictures for docs/playground.md, which npm run docs:screenshots takes',
  async () => {
    const { startBrowser, visit } = await import('../../packages/dashboard/test/setup/browser.ts')
    const browser = await startBrowser()
    const { page } = await visit(browser, inject('playground'))
    await plays(page)
    const story = page.getByRole('region', { name: 'What happened' })
    const workers = page.getByRole('region', { name: 'Workers' }).getByRole('listitem')

    await page.getByRole('button', { name: 'Start a run' }).click()
    const charging = workers.filter({ hasText: 'chargeCard' })
    await charging.waitFor()
    await take(page, '1-before-the-crash')
    await charging.getByRole('button', { name: 'Crash' }).click()
    await page.getByText('lease ends in').waitFor()
    await take(page, '2-crashed')
    await story.getByText('gives chargeCard back to the queue').waitFor()
    await charging.getByRole('button', { name: 'Crash', disabled: false }).waitFor()
    await take(page, '3-taken-over')
    await story.getByText('completed').waitFor()
    await page.locator('.balance').filter({ hasText: 'It balances' }).waitFor()
    await take(page, '4-balanced')
    await browser.close()
  },
)

async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  // Less than half of a PNG.
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  await session.detach()
  const bytes = Buffer.from(data, 'base64')
  expect(bytes.length, name).toBeLessThan(BYTES_MAX)
  await writeFile(picture(name), bytes)
}
