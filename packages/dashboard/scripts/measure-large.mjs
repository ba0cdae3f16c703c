import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { rolldown } from 'rolldown'

/**
 * Measures how long a run of 10,000 steps takes in the page that was built last: from the last byte of the answer to the frame in which its tab is drawn, the
 * median of five; and how long a live refresh and one step of scrolling block the page. `node scripts/measure-large.mjs [steps]`; needs Chromium.
 */
const folder = fileURLToPath(new URL('..', import.meta.url))
const STEPS = Number(process.argv[2] ?? 10_000)
const ROUNDS = 5
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } }

const { startFixture, ANSWERS, largePage } = await fixtures()
const fixture = await startFixture()
const answer = largePage({ steps: STEPS, items: 65_536 })
fixture.answers = { ...ANSWERS, run: () => ({ ...answer, run: { ...answer.run, readAt: Date.now() } }) }
const executablePath = process.env['BELAY_CHROMIUM'] ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
for (const [size, viewport] of Object.entries(SIZES))
  for (const tab of ['timeline', 'graph', 'steps']) {
    const rounds = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measured(tab, viewport))
    const middle = (/** @type {(one: (typeof rounds)[number]) => number} */ of) =>
      Math.round(rounds.map(of).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0)
    const [paint, refresh, nodes] = [
      middle((one) => one.paint),
      middle((one) => one.refresh),
      middle((one) => one.nodes),
    ]
    console.log(
      `${size} ${tab}: painted after ${paint} ms, a refresh blocks for ${refresh} ms, ${nodes} elements`,
    )
  }
await browser.close()
await fixture.stop()

/**
 * @param {string} tab
 * @param {{ width: number, height: number }} viewport
 */
async function measured(tab, viewport) {
  const page = await browser.newPage({ viewport, reducedMotion: 'reduce' })
  await page.addInitScript(watch)
  await page.goto(`${fixture.url}runs/${answer.run.id}/${tab}`)
  const isRefreshed = () => Reflect.get(globalThis, 'frames').length > 1
  await page.waitForFunction(isRefreshed, undefined, { timeout: 120_000, polling: 100 })
  const [paint, refresh] = await page.evaluate(() => Reflect.get(globalThis, 'frames'))
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
  await page.close()
  return { paint, refresh, nodes }
}

/** In the page: after each answer about the run, how long until the frame after the work that follows it. */
function watch() {
  /** @type {number[]} */
  const frames = []
  Object.assign(globalThis, { frames })
  const json = Response.prototype.json
  Response.prototype.json = async function () {
    if (!/\/api\/runs\/[^/]+$/.test(new URL(this.url).pathname)) return json.call(this)
    const text = await this.text()
    const from = performance.now()
    const value = JSON.parse(text)
    requestAnimationFrame(function seen() {
      const isDrawn = document.querySelector('[data-row], [data-step], .steps tbody th') !== null
      if (!isDrawn) return void requestAnimationFrame(seen)
      // The frame is painted once a task of the next one runs.
      requestAnimationFrame(() => setTimeout(() => frames.push(performance.now() - from)))
    })
    return value
  }
}

/** The fixtures of the tests are TypeScript. */
async function fixtures() {
  const names = ['fixture', 'answers', 'large'].map((name) => join(folder, 'test/setup', `${name}.ts`))
  const lines = names.map((name) => `export * from ${JSON.stringify(name)}`).join('\n')
  const bundle = await rolldown({
    input: 'all',
    platform: 'node',
    logLevel: 'warn',
    plugins: [
      {
        name: 'all',
        resolveId: (id) => (id === 'all' ? '\0all' : null),
        load: (id) => (id === '\0all' ? lines : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
}
