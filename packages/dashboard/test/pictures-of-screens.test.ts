import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { it } from 'vitest'
import { THEMES } from './setup/browser.ts'
import { jobs } from './setup/jobs.ts'
import { onScreen, pageAt, shown, startPages } from './setup/pages.ts'
import { parked } from './setup/parked.ts'

const pathOfPicture = (name: string) =>
  fileURLToPath(new URL(`../../../docs/images/dashboard-${name}.webp`, import.meta.url))

async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  // Less than half of a PNG.
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  await writeFile(pathOfPicture(name), data, 'base64')
}

// Not compared: another version of Chromium draws other pixels.
onScreen('screens that act on many', () => {
  it.skipIf(process.env['BELAY_SCREENSHOTS'] === undefined)(
    'for docs/dashboard.md, which npm run docs:screenshots takes',
    async () => {
      const undos = await startPages((await parked(12, { items: true, hostile: 'card is blocked' })).worker)
      const failed = await startPages((await jobs({ single: 41, children: 3 })).worker)
      for (const colorScheme of THEMES) {
        const rollbacks = await pageAt(`${undos}rollbacks`, { colorScheme })
        await shown(rollbacks.page, 'parked undos')
        await take(rollbacks.page, `rollbacks-${colorScheme}`)

        const query = encodeURIComponent('workflow=job&status=failed')
        const { page } = await pageAt(`${failed}repairs/new?query=${query}`, { colorScheme })
        await page.getByRole('button', { name: 'Count' }).click()
        await page.getByLabel('Reason').fill('the mail server is back')
        await take(page, `repair-${colorScheme}`)
      }
    },
  )
})
