import { join } from 'node:path'
import { define, PermanentError } from '@belay/workflow'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { axeFindings, noBrowser, SIZES, sideways, startBrowser, THEMES, visit } from './setup/browser.ts'
import { bank } from './setup/fulfil-order.ts'
import { type Pages, startPages } from './setup/pages.ts'
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

describe.skipIf(noBrowser)(`a run on its screen${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  let at: Shop
  let pages: Pages

  beforeAll(async () => {
    ;[at, browser] = await Promise.all([shop({ isShared: true, attempts: 'keep' }), startBrowser()])
    pages = await startPages(at.worker)
  })
  afterAll(async () => {
    await browser.close()
    pages.stop()
  })

  const open = async (path: string, viewport: (typeof SIZES)[keyof typeof SIZES] = SIZES.wide) => {
    const { page, complaints } = await visit(browser, pages.url + path, { viewport })
    await page.getByRole('main').waitFor()
    return { page, complaints }
  }
  const statusOf = async (key: Key) => (await at.worker.runs.get(at.runs[key].id))!.status
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
        await page.context().close()
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
    await page.context().close()
  })

  it('a viewer without capabilities sees the buttons, disabled and with the reason', async () => {
    const few = await startPages(at.worker, [])
    const { page, complaints } = await visit(browser, `${few.url}runs/${at.runs['order:9185'].id}`)
    const button = page.getByRole('button', { name: 'Retry the undo…' }).first()
    await button.waitFor()
    const buttons = await page.locator('.run-actions button, .at-row button').all()
    expect(buttons.length).toBeGreaterThan(2)
    for (const each of buttons) expect(await each.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('You may not do this here')
    expect(complaints()).toEqual([])
    await page.context().close()
    few.stop()
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
    await page.context().close()
  })

  /** Presses a key until that is so: at most a hundred times. */
  const pressUntil = async (page: Page, key: string, isSo: () => Promise<boolean>) => {
    for (let times = 0; times < 100; times += 1) {
      await page.keyboard.press(key)
      if (await isSo()) return
    }
    throw new Error(`${key} does not lead there`)
  }
  /** Whether the control with that text or label has the focus. */
  const isAt = (page: Page, name: string) =>
    page.evaluate((text) => {
      const element = document.activeElement as HTMLInputElement | null
      if (element === document.body) return false
      return `${element?.textContent} ${element?.labels?.[0]?.textContent}`.includes(text)
    }, name)
  const reach = (page: Page, name: string) => pressUntil(page, 'Tab', () => isAt(page, name))

  it('by keyboard alone: rewind an undone run to before its undo, and come back', async () => {
    const { page, complaints } = await open(`runs/${at.runs['order:9184'].id}/history`)
    const slider = page.getByRole('slider')
    await slider.waitFor()
    const node = () => page.getByRole('treeitem', { name: /chargeCard/ }).getAttribute('aria-label')
    expect(await node()).toContain('undone')
    await reach(page, 'The instant that is shown')
    const seen = new Set<string | null>()
    await pressUntil(page, 'ArrowLeft', async () => {
      seen.add(await node())
      return (await node())!.includes('pending')
    })
    // Undone, being undone, to undo, completed, running, pending: some of them may share an instant.
    expect(seen.size).toBeGreaterThan(3)
    await pressUntil(page, 'ArrowRight', async () => (await node())!.includes('undone'))
    expect(complaints()).toEqual([])
    await page.context().close()
  })

  // The last one: it ends the parked run.
  it('by keyboard alone: find a parked run, see why, and retry its undo after the dry run', async () => {
    const { page, complaints } = await open('runs')
    await page.getByText('order:9185').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('order:9185')
    await page.getByRole('option', { name: /order:9185/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'order:9185' }).waitFor()
    await page
      .getByText(/The compensation of "chargeCard" failed for good/)
      .first()
      .waitFor()
    await reach(page, 'Retry the undo…')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Retry the undo of chargeCard' })
    await dialog.getByText(/would be called again/).waitFor()
    expect(await statusOf('order:9185')).toBe('compensation_failed')
    expect(await axeFindings(page, 'dialog')).toEqual([])
    bank.refunds = 'open'
    expect(await isAt(page, 'Reason')).toBe(true)
    await page.keyboard.type('refunds are open again')
    await page.keyboard.press('Enter')
    await vi.waitFor(async () => expect(await statusOf('order:9185')).toBe('compensated'), 10_000)
    await dialog.getByRole('button', { name: 'Close' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.badge').getByText('Undone').waitFor()
    await tab(page, 'History').click()
    await page.getByText('refunds are open again').waitFor()
    expect(complaints()).toEqual([])
    await page.context().close()
  })
})
