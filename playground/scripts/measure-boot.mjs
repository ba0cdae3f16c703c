import { loadavg } from 'node:os'
import { chromium } from 'playwright-core'
import { servePlayground } from './serve.mjs'

/**
 * Measures how long the playground that was built last takes from the navigation until "Start a run" can be pressed, the median of seven: cold, in a browser that knows nothing; and
 * warm, once it was loaded and its files are kept. `node scripts/measure-boot.mjs`; needs Chromium.
 */
const ROUNDS = 7
const served = await servePlayground()
const executablePath = process.env['BELAY_CHROMIUM'] ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
/** @type {{ cold: number[], warm: number[] }} */
const ms = { cold: [], warm: [] }
for (let round = 0; round < ROUNDS; round += 1) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  ms.cold.push(await opened(page))
  await page.evaluate(async () => void (await navigator.serviceWorker.ready))
  await page.close()
  const again = await context.newPage()
  await again.waitForTimeout(1_000)
  ms.warm.push(await opened(again))
  await context.close()
}
for (const [name, all] of Object.entries(ms)) {
  const sorted = all.toSorted((one, other) => one - other).map(Math.round)
  console.log(`${name}: median ${sorted[Math.floor(ROUNDS / 2)]} ms (${sorted.join(', ')})`)
}
console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`)
await browser.close()
await served.close()

/** @param {import('playwright-core').Page} page */
async function opened(page) {
  await page.goto(served.url, { waitUntil: 'commit' })
  // In each frame: other ways to wait look every half second.
  const ready = await page.waitForFunction(
    () => {
      const buttons = [...document.querySelectorAll('button')]
      const start = buttons.find(({ textContent }) => textContent?.includes('Start a run'))
      return start !== undefined && !start.disabled && performance.now()
    },
    undefined,
    { polling: 'raf' },
  )
  return Number(await ready.jsonValue())
}
