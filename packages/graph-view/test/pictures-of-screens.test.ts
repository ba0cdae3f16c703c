import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { it } from 'vitest'
import type { RunPage } from '../../dashboard/src/api.ts'
import { parked } from './runs.ts'

const picture = (name: string) =>
  fileURLToPath(new URL(`../../../docs/images/dashboard-${name}.webp`, import.meta.url))

/** Each screen of docs/dashboard.md, and a text that stands there when it has settled. */
const SCREENS = {
  runs: ['runs', 'order:9231'],
  timeline: ['runs/order:9182', 'A hollow bar is an attempt'],
  graph: ['runs/order:9182/graph', 'Open steps, and what each waits for'],
  health: ['health', '4 findings'],
} as const

// As the engine says it.
const why =
  'The undo of "chargeCard" failed for good (RefundError: refund window closed (PSP-4410)): retry it once the cause is repaired, or mark it as undone once that was done by hand.'
const behind =
  '"reserveStock" is undone after "chargeCard", whose undo failed for good and waits for an operator.'

const repairs = ['retryCompensation', 'skipCompensation'] as const

const PARKED: RunPage = {
  revision: 'fixture.1',
  run: parked,
  tags: ['tenant:7'],
  priority: 0,
  why,
  open: [
    {
      step: 'chargeCard',
      reason: 'operator',
      sentence: why,
      actions: repairs.map((verb) => ({ verb, step: 'chargeCard', denied: false })),
    },
    { step: 'reserveStock', reason: 'operator', sentence: behind, actions: [] },
  ],
  actions: [],
  effects: { undone: 2, remain: 2, kept: 0, unknown: 0 },
  history: [],
  children: [],
}

// Not compared: another version of Chromium draws other pixels.
it.skipIf(process.env['BELAY_SCREENSHOTS'] === undefined)(
  'the screens for docs/dashboard.md, which npm run docs:screenshots takes',
  async () => {
    const { startBrowser, visit, THEMES } = await import('../../dashboard/test/setup/browser.ts')
    const { startFixture } = await import('../../dashboard/test/setup/fixture.ts')
    const [fixture, browser] = await Promise.all([startFixture(), startBrowser()])
    fixture.answers = { ...fixture.answers, run: () => PARKED }
    for (const [name, [path, shows]] of Object.entries(SCREENS)) {
      for (const colorScheme of THEMES) {
        const { page } = await visit(browser, fixture.url + path, { colorScheme })
        await page.clock.setFixedTime(parked.readAt)
        await page.reload()
        await page.getByText(shows).first().waitFor()
        const session = await page.context().newCDPSession(page)
        // Less than half of a PNG.
        const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
        await writeFile(picture(`${name}-${colorScheme}`), data, 'base64')
        await page.context().close()
      }
    }
    await browser.close()
    await fixture.stop()
  },
)
