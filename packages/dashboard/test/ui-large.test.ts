import { join } from 'node:path'
import type { ItemStates } from '@belay/graph-view'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ANSWERS } from './setup/answers.ts'
import { axeFindings, SIZES, sideways, THEMES } from './setup/browser.ts'
import { type Fixture, startFixture } from './setup/fixture.ts'
import { largeItems, largePage, largeStates, nameOfStep } from './setup/large.ts'
import { onScreen, pageAt } from './setup/pages.ts'

const STEPS = 10_000
const ITEMS = 65_536
const LAST = nameOfStep(STEPS - 1)
/** Of the steps that have begun. */
const LAST_BEGUN = nameOfStep(6_009)
const MAP = nameOfStep(STEPS / 2)
const page10k = largePage({ steps: STEPS, items: ITEMS })
const states: ItemStates = largeStates(ITEMS)

/** Where pictures of all tabs are put, to be looked at. */
const pictures = process.env['BELAY_PICTURES']

const TABS = ['timeline', 'graph', 'steps'] as const
type Tab = (typeof TABS)[number]

const row = (name: string) => `[data-row="f:${name}"]`
const node = (name: string) => `[data-step="${name}"]`
const cells = '.steps tbody th'
const DRAWN: Record<Tab, string> = { timeline: '[data-row]', graph: '[data-step]', steps: cells }

onScreen('a run of 10,000 steps', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await startFixture()
  })
  beforeEach(() => {
    fixture.reset()
    fixture.answers = {
      ...ANSWERS,
      run: () => page10k,
      items: (path, query) => {
        if (path.includes('errors')) return { readAt: 0, groups: [], read: 0, more: false }
        return path.includes('states') ? { states } : largeItems(ITEMS, query)
      },
    }
  })
  afterAll(() => fixture.stop())

  const open = (tab: Tab, viewport: (typeof SIZES)[keyof typeof SIZES] = SIZES.wide) =>
    pageAt(`${fixture.url}runs/${page10k.run.id}/${tab}`, { viewport }, (page) => page.locator(DRAWN[tab]))
  const elements = (page: Page) => page.locator('*').count()
  const focused = (page: Page) =>
    page.evaluate(() => {
      const { dataset } = document.activeElement as HTMLElement | SVGElement
      return dataset['row'] ?? dataset['step']
    })
  /** Whether it is in the box that scrolls, and in the window. */
  const isInSight = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => {
      const [own, box] = [element, element.closest('.tall')!].map((one) => one.getBoundingClientRect())
      return own!.top >= box!.top - 1 && own!.bottom <= box!.bottom + 1 && own!.left < box!.right
    })

  for (const [size, viewport] of Object.entries(SIZES))
    for (const tab of TABS)
      it(`${tab}, ${size}: few elements, no finding of axe in either theme, no complaint, no sideways scrolling`, async () => {
        const { page, complaints } = await open(tab, viewport)
        expect(await elements(page)).toBeLessThan(2_000)
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          expect(await axeFindings(page, 'main'), colorScheme).toEqual([])
          if (pictures !== undefined)
            await page.screenshot({ path: join(pictures, `large-${tab}-${size}-${colorScheme}.png`) })
        }
        expect(await sideways(page)).toBe(0)
        expect(complaints()).toEqual([])
      })

  it('by keyboard alone: to the last row of the timeline, up from there, and back to the first', async () => {
    const { page } = await open('timeline')
    await page.locator('[data-row][tabindex="0"]').focus()
    await page.keyboard.press('End')
    expect(await focused(page)).toBe(`f:${LAST_BEGUN}`)
    expect(await isInSight(page, row(LAST_BEGUN))).toBe(true)
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toBe(`f:${nameOfStep(6_008)}`)
    await page.locator(row(nameOfStep(6_000))).waitFor()
    expect(await page.locator(row(nameOfStep(0))).count()).toBe(0)
    await page.keyboard.press('Home')
    expect(await focused(page)).toBe(`f:${nameOfStep(0)}`)
    expect(await page.locator('[data-row][tabindex="0"]').count()).toBe(1)
  })

  it('the row with the focus stays while the mouse scrolls it out of sight', async () => {
    const { page } = await open('timeline')
    await page.locator('[data-row][tabindex="0"]').focus()
    await page.locator('.canvas').evaluate((canvas) => canvas.scrollTo(0, 90_000))
    await page.locator(row(nameOfStep(3_000))).waitFor()
    expect(await focused(page)).toBe(`f:${nameOfStep(0)}`)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe(`f:${nameOfStep(1)}`)
    expect(await isInSight(page, row(nameOfStep(1)))).toBe(true)
  })

  it('by keyboard alone: along the edges of the graph, and to its last step', async () => {
    const { page } = await open('graph')
    await page.locator('[data-step][tabindex="0"]').focus()
    await page.keyboard.press('ArrowRight')
    expect(page10k.run.steps.find(({ name }) => name === nameOfStep(10))?.dependsOn).toContain(nameOfStep(0))
    expect(await focused(page)).toBe(nameOfStep(10))
    await page.keyboard.press('End')
    expect(await focused(page)).toBe(LAST)
    expect(await isInSight(page, node(LAST))).toBe(true)
    const last = page.locator(node(LAST))
    expect(await last.getAttribute('aria-setsize')).toBe('10000')
    expect(await last.getAttribute('aria-posinset')).toBe('10000')
    await page.keyboard.press('ArrowLeft')
    expect(page10k.run.steps.at(-1)!.dependsOn).toContain(await focused(page))
  })

  it('by keyboard alone: the table says how many rows it has, and End leads to the last', async () => {
    const { page } = await open('steps')
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('10001')
    await page.getByRole('region', { name: 'Steps' }).focus()
    await page.keyboard.press('End')
    const last = page.locator('tr', { has: page.getByRole('rowheader', { name: LAST }) })
    await last.waitFor()
    expect(await last.getAttribute('aria-rowindex')).toBe('10001')
    expect(await page.getByRole('rowheader', { name: nameOfStep(0) }).count()).toBe(0)
    expect(await elements(page)).toBeLessThan(2_000)
  })

  it('a step is found by a part of its name: the table has only those, graph and timeline show it', async () => {
    const { page } = await open('steps')
    await page.getByLabel('Find a step').fill('-0599')
    expect(await page.locator(cells).allTextContents()).toEqual(
      Array.from({ length: 10 }, (_, index) => nameOfStep(5_990 + index)),
    )
    for (const [tab, found] of [
      ['Graph', node],
      ['Timeline', row],
    ] as const) {
      await page.getByRole('link', { name: tab }).click()
      await page.getByLabel('Find a step').fill('POST-0599')
      await page.keyboard.press('Enter')
      expect(await isInSight(page, found(nameOfStep(5_990)))).toBe(true)
      await page.keyboard.press('Enter')
      await page.getByText('2 of 10').waitFor()
      expect(await page.locator(found(nameOfStep(5_991))).getAttribute('tabindex')).toBe('0')
      await page.keyboard.press('Shift+Enter')
      await page.getByText('1 of 10').waitFor()
    }
  })

  it('narrow, the graph scrolls in its canvas; the minimap shows where, and moves it', async () => {
    const { page } = await open('graph', SIZES.narrow)
    const frame = page.locator('.minimap .view')
    const top = async () => Number(await frame.getAttribute('y'))
    await page.locator('div.minimap').scrollIntoViewIfNeeded()
    const box = (await page.locator('div.minimap').boundingBox())!
    expect(await top()).toBe(0)
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    const isAbout = (share: number) =>
      page.locator('.canvas').evaluate((canvas, wanted) => {
        const middle = (canvas.scrollTop + canvas.clientHeight / 2) / canvas.scrollHeight
        return Math.abs(middle - wanted) < 0.02
      }, share)
    expect(await isAbout(0.5)).toBe(true)
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.75)
    await page.mouse.up()
    expect(await isAbout(0.75)).toBe(true)
    await page.locator(node(nameOfStep(7_505))).waitFor()
    expect(await top()).toBeGreaterThan(box.height * 0.6)
    expect(
      await page.locator('.canvas').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
    ).toBe(true)
    expect(await sideways(page)).toBe(0)
  })

  it('a refresh of a run that has ended changes nothing in its drawings', async () => {
    const run = { ...page10k.run, status: 'cancelled' as const, finishedAt: page10k.run.readAt }
    let reads = 0
    fixture.answers = {
      ...fixture.answers,
      run: () => ({ ...page10k, open: [], run: { ...run, readAt: run.readAt + 2_000 * ++reads } }),
    }
    for (const tab of ['timeline', 'graph'] as const) {
      const { page } = await open(tab)
      await page.locator('.canvas').evaluate((canvas) => {
        const watched = { changes: 0 }
        Object.assign(globalThis, { watched })
        new MutationObserver(({ length }) => {
          watched.changes += length
        }).observe(canvas, { subtree: true, childList: true, attributes: true, characterData: true })
      })
      for (const _ of [1, 2]) await page.waitForResponse(/\/api\/runs\/[^/]+$/)
      expect(await page.evaluate(() => Reflect.get(globalThis, 'watched').changes)).toBe(0)
    }
  })

  it('a map of 65,536 items: counts in words, a strip of all, each told on request, those that failed first', async () => {
    const { page, complaints } = await open('steps')
    await page.getByLabel('Find a step').fill(MAP)
    await page.getByText('65,536 of 65,536 items ended: 66 failed, 65,470 completed').waitFor()
    await page.getByRole('link', { name: 'All items' }).click()
    await page.getByRole('button', { name: 'Show all 65,536 items' }).click()
    const strip = page.getByRole('slider', { name: `Items of ${MAP}` })
    await strip.waitFor()
    await page.getByRole('button', { name: 'List the 66 that failed' }).click()
    const failed = page.getByRole('list', { name: `Failed items of ${MAP}` }).getByRole('listitem')
    await failed.first().waitFor()
    expect(await failed.first().textContent()).toMatch(/Failed.*account-500.*item 501.*account is closed/)
    expect(await failed.count()).toBe(50)
    await page.getByRole('button', { name: 'Next items' }).click()
    await failed.getByText('account-65500').waitFor()
    expect(await failed.count()).toBe(16)
    expect(fixture.asked.filter((path) => path.includes('items/states'))).toHaveLength(1)
    await strip.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    expect(await strip.getAttribute('aria-valuetext')).toMatch(
      /^Items 65,401 to 65,536: 1 failed, 135 completed$/,
    )
    const listed = page.getByRole('list', { name: `Items of ${MAP}` }).getByRole('listitem')
    await listed.first().getByText('account-65500').waitFor()
    await strip.scrollIntoViewIfNeeded()
    const box = (await strip.boundingBox())!
    await page.mouse.click(box.x + 2.5 * 10, box.y + 5)
    expect(await strip.getAttribute('aria-valuetext')).toBe('Items 401 to 600: 1 failed, 199 completed')
    await listed.first().getByText('account-500').waitFor()
    expect(await listed.first().textContent()).toContain('account is closed')
    expect(await elements(page)).toBeLessThan(2_000)
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      expect(await axeFindings(page, 'main'), colorScheme).toEqual([])
      if (pictures !== undefined)
        await page.screenshot({ path: join(pictures, `large-items-${colorScheme}.png`) })
    }
    expect(complaints()).toEqual([])
  })
})
