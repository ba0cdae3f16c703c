import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANSWERS } from './setup/answers.ts'
import { noBrowser, startBrowser, visit } from './setup/browser.ts'
import { type Fixture, startFixture } from './setup/fixture.ts'

const MINUTES = 60
const READS_IN_A_MINUTE = 30
/** For each read. Less than what a page that kept its answers would keep. */
const KEPT_MAX_BYTES = 500

/** An hour of a page that reads every two seconds, on a clock of its own, with answers that all differ. */
describe.skipIf(noBrowser)(`an hour of live updates${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  let fixture: Fixture
  beforeAll(async () => {
    ;[browser, fixture] = await Promise.all([startBrowser(), startFixture()])
  })
  afterAll(async () => {
    await browser.close()
    await fixture.stop()
  })

  it.each([
    ['runs', 'runs?'],
    ['runs/order:9231/timeline', 'runs/order'],
  ])(
    'of %s leaves the memory of the tab as it was after ten minutes',
    async (path, read) => {
      let asked = 0
      fixture.answers = {
        ...ANSWERS,
        runs: (query) => {
          asked += 1
          const page = ANSWERS.runs(query)
          const id = (index: number) =>
            `0193${String(asked * 100 + index)
              .padStart(4, '0')
              .slice(-4)}${crypto.randomUUID().slice(8)}`
          return {
            ...page,
            readAt: page.readAt + asked * 2_000,
            runs: page.runs.map((run, index) => ({ ...run, id: id(index), why: `${run.why} ${asked}` })),
          }
        },
        run: (name) => {
          asked += 1
          const page = ANSWERS.run(name)
          return (
            page && {
              ...page,
              why: `${page.why} ${asked}`,
              run: { ...page.run, readAt: page.run.readAt + asked * 2_000 },
            }
          )
        },
      }
      const { page, complaints } = await visit(browser, fixture.url + path)
      await page.clock.install()
      await page.reload()
      await page
        .getByRole('main')
        .getByText(/order:\d+/)
        .first()
        .waitFor()
      const session = await page.context().newCDPSession(page)
      const heap = async () => {
        await session.send('HeapProfiler.collectGarbage')
        const { usedSize } = await session.send('Runtime.getHeapUsage')
        return { bytes: usedSize, elements: await page.locator('*').count() }
      }
      // By reads, not by its own clock alone: a busy machine answers later.
      const minutes = async (count: number) => {
        const enough = asked + count * READS_IN_A_MINUTE
        for (let n = 0; asked < enough && n < 4 * count * READS_IN_A_MINUTE; n += 1) {
          const before = asked
          await page.clock.runFor(2_000)
          for (let turns = 0; asked === before && turns < 200; turns += 1)
            await page.evaluate(() => undefined)
        }
        expect(asked).toBeGreaterThanOrEqual(enough)
      }
      await minutes(10)
      const early = await heap()
      await minutes(MINUTES - 10)
      const late = await heap()
      const reads = (MINUTES - 10) * READS_IN_A_MINUTE
      expect((late.bytes - early.bytes) / reads).toBeLessThan(KEPT_MAX_BYTES)
      expect(late.elements).toBeLessThan(early.elements * 1.1)
      expect(fixture.asked.some((one) => one.startsWith(read))).toBe(true)
      expect(complaints()).toEqual([])
      await page.context().close()
    },
    180_000,
  )
})
