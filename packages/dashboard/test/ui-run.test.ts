import { join } from 'node:path'
import { define, PermanentError } from '@belay/workflow'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { belay } from '../../cli/test/setup/belay.ts'
import { axeFindings, SIZES, sideways, THEMES } from './setup/browser.ts'
import { MAIN, onScreen, pageAt, startPages } from './setup/pages.ts'
import { type Key, type Shop, shop } from './setup/shop.ts'

/** Each tab, and a text that stands there when it has settled. */
const TABS = {
  timeline: /A hollow bar is an attempt/,
  graph: /Open steps, and what each waits for/,
  steps: /What it waits for, and errors/,
  history: /Nobody has acted on this run/,
  payloads: /Input/,
  rows: /Paste a query into psql/,
} as const

const HOSTILE = '<img src=x onerror="globalThis.ran = true">'

const hostile = define('hostile', { version: 1 }).step('ship', {
  retry: false,
  run: () => {
    throw new PermanentError(HOSTILE)
  },
})

/** Where pictures of all tabs are put, to be looked at. */
const pictures = process.env['BELAY_PICTURES']

onScreen('a run on its screen', () => {
  let at: Shop
  let url: string

  beforeAll(async () => {
    at = await shop({ isShared: true, attempts: 'keep' })
    url = await startPages(at.worker)
  })

  const open = (path: string, viewport: (typeof SIZES)[keyof typeof SIZES] = SIZES.wide) =>
    pageAt(url + path, { viewport }, MAIN)
  const tab = (page: Page, name: string) =>
    page
      .getByRole('navigation', { name: 'Views of this run' })
      .getByRole('link', { name: new RegExp(name, 'i') })

  for (const key of ['order:9185', 'order:9182'] satisfies Key[])
    for (const [size, viewport] of Object.entries(SIZES))
      it(`${key}, ${size}: no finding of axe on any tab in either theme, no complaint, no sideways scrolling`, async () => {
        const { page, complaints } = await open(`runs/${at.runs[key].id}`, viewport)
        await page.getByRole('heading', { name: key }).waitFor()
        for (const [name, shows] of Object.entries(TABS)) {
          await tab(page, name).click()
          if (name === 'payloads') await page.getByRole('button', { name: 'Show them' }).click()
          await page.getByText(shows).first().waitFor()
          for (const colorScheme of THEMES) {
            await page.emulateMedia({ colorScheme })
            expect(await axeFindings(page, 'main'), `${name}, ${colorScheme}`).toEqual([])
            if (pictures !== undefined)
              await page.screenshot({
                path: join(pictures, `${key.slice(6)}-${name}-${size}-${colorScheme}.png`),
                fullPage: true,
              })
          }
          expect(await sideways(page), name).toBe(0)
        }
        expect(complaints()).toEqual([])
      })

  it('the lines of the timeline’s hover are lines: nothing between them is filled', async () => {
    const { page } = await open(`runs/${at.runs['order:9185'].id}`)
    await page.locator('[data-row="f:packItem"]').hover()
    const line = page.locator('.canvas path.link').first()
    await line.waitFor({ state: 'attached' })
    expect(await line.evaluate((path) => getComputedStyle(path).fill)).toBe('none')
  })

  for (const width of [1280, 390])
    it(`at ${width} pixels the graph is there as a whole, and can be zoomed`, async () => {
      const { page } = await pageAt(
        `${url}runs/${at.runs['order:9185'].id}/graph`,
        { viewport: { width, height: 800 } },
        (there) => there.locator('.canvas svg'),
      )
      const canvas = page.locator('.canvas')
      const hidden = () => canvas.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      const across = () => page.locator('.canvas svg').evaluate((svg) => svg.getBoundingClientRect().width)
      await expect.poll(hidden).toBe(0)
      const whole = await across()
      for (const act of [
        () => page.getByRole('button', { name: 'Zoom in' }).click(),
        () => page.keyboard.press('+'),
        async () => {
          await canvas.hover()
          await page.keyboard.down('Control')
          await page.mouse.wheel(0, -200)
          await page.keyboard.up('Control')
        },
      ]) {
        const before = await across()
        await act()
        await expect.poll(across).toBeGreaterThan(before)
      }
      await page.getByRole('button', { name: 'Zoom out' }).click()
      await page.getByRole('button', { name: 'Fit' }).click()
      await expect.poll(across).toBe(whole)
      expect(await hidden()).toBe(0)
    })

  it('one run takes as long in the command line, in the server’s sentence, and in the drawing', async () => {
    const env = { DATABASE_URL: at.url, BELAY_SCHEMA: at.schema }
    const { stdout } = await belay(['show', 'order:9184'], { env, columns: 100 })
    const [, ofUndo = 'nothing'] = /□ chargeCard +\d+ +(.+)$/m.exec(stdout) ?? []

    const { page } = await open('runs/order:9184')

    expect(await page.locator('[data-row="u:chargeCard"]').textContent()).toContain(ofUndo)
    const [, ofRun = 'nothing'] =
      /^Undone after ([^:]+):/.exec((await page.locator('.run-why').textContent()) ?? '') ?? []
    expect(await page.locator('.facts').textContent()).toContain(`Took${ofRun}`)
  })

  it('the table of steps says what graph and timeline show', async () => {
    const { page } = await open(`runs/${at.runs['order:9185'].id}/steps`)
    const row = async (step: string) =>
      page.locator('tr', { has: page.getByRole('rowheader', { name: step }) }).textContent()
    expect(await row('chargeCard')).toMatch(/Undo parked.*parked.*refunds are closed/s)
    // It is next, and its undo has not begun.
    expect(await row('reserveStock')).toMatch(/Completed.*to undo/s)
    expect(await row('packItem')).toMatch(/Undone.*undone.*3 of 3 items/s)
    expect(await row('route')).toMatch(/Completed.*none/s)
  })

  it('a viewer without capabilities sees the buttons, disabled and with the reason', async () => {
    const few = await startPages(at.worker, [])
    const { page, complaints } = await pageAt(`${few}runs/${at.runs['order:9185'].id}`)
    const button = page.getByRole('button', { name: 'Retry the undo…' }).first()
    await button.waitFor()
    const acting = page.locator('.run-actions button, .at-row button').filter({ hasNotText: 'Compare' })
    const buttons = await acting.all()
    expect(buttons.length).toBeGreaterThan(2)
    for (const each of buttons) expect(await each.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('You may not do this here')
    expect(complaints()).toEqual([])
  })

  it('a hostile key, tag, error and reason are text', async () => {
    const worker = at.engine({ workflows: [hostile], name: 'hostile' })
    await worker.start()
    const run = await worker.run(hostile, {}, { key: HOSTILE, tags: [HOSTILE] })
    await run.result().catch(() => {})
    await run.retry({ by: HOSTILE, reason: HOSTILE })
    await run.result().catch(() => {})
    const { page, complaints } = await open(`runs/${run.id}`)
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    for (const [name, shown] of Object.entries({
      steps: `PermanentError: ${HOSTILE}`,
      history: HOSTILE,
      graph: HOSTILE,
    })) {
      await tab(page, name).click()
      await page.getByText(shown).first().waitFor()
      expect(await page.locator('img').count()).toBe(0)
    }
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false)
    expect(complaints()).toEqual([])
  })
})
