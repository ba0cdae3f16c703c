import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  axeFindings,
  noBrowser,
  SIZES,
  sideways,
  startBrowser,
  THEMES,
  visit,
} from '../../packages/dashboard/test/setup/browser.ts'
import { plays, sql } from './setup/opened.ts'

const LOOKS = THEMES.flatMap((theme) =>
  (['wide', 'narrow'] as const).map((size) => ({ theme, size, viewport: SIZES[size] })),
)

describe.skipIf(noBrowser)(`the screen${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  // A page that is left open goes on working.
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

  it.each(LOOKS)(
    'passes axe and does not scroll sideways in each state: $theme, $size',
    async ({ theme, viewport }) => {
      const { page, complaints } = await visit(browser, inject('playground'), {
        colorScheme: theme,
        viewport,
      })
      const found: Record<string, readonly unknown[]> = {}
      const look = async (state: string) => {
        found[state] = [
          ...(await axeFindings(page)),
          ...((await sideways(page)) > 0 ? ['scrolls sideways'] : []),
        ]
      }

      await look('opening')
      await starts(page)
      await look('playing with no run')
      await start(page)
      await page.locator('.who').getByText('worker').waitFor()
      await look('a run under way')
      await crash(page)
      await look('a crashed worker')
      await page.getByLabel('Example').selectOption({ label: 'A step fails, and is undone' })
      await starts(page)
      await startUntil(page, 'Undone')
      await look('an undone run')
      await page.getByRole('tab', { name: 'SQL' }).click()
      await page.getByLabel('SQL on this database').fill('select nothing from nowhere')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.getByRole('alert').filter({ hasText: 'relation "nowhere" does not exist' }).waitFor()
      await look('SQL with an error')
      await page.getByRole('button', { name: 'Take the tour' }).click()
      await look('the tour')

      const states = Object.keys(found)
      expect(found).toEqual(Object.fromEntries(states.map((state) => [state, []])))
      expect(complaints()).toEqual([])
    },
  )

  it('stands on one screen of 1440 × 900, which does not scroll', async () => {
    const { page } = await visit(browser, inject('playground'))
    await starts(page)
    await startUntil(page, 'Completed')
    expect(
      await page.evaluate(
        () => document.documentElement.scrollHeight - document.documentElement.clientHeight,
      ),
    ).toBe(0)
  })

  it('a row that changes is marked, and the mark goes', async () => {
    const { page } = await visit(browser, inject('playground'))
    await starts(page)
    await start(page)
    const row = page.getByRole('row').filter({ hasText: 'takeStock' })
    await row.filter({ hasText: 'completed' }).waitFor()
    expect(await row.getAttribute('class')).toBe('flash')
    await page.locator('tr:not(.flash)').filter({ hasText: 'takeStock' }).waitFor()
  })

  it('the ledger balances, is in between while a run is under way, and raises an alarm if nothing is', async () => {
    const { page } = await visit(browser, inject('playground'))
    await starts(page)
    const line = page.getByRole('region', { name: 'Ledger' }).locator('.balance')
    await start(page)
    await line.filter({ hasText: 'In between, and under way: 1; 0 sold, 0 undone.' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await line.filter({ hasText: 'It balances: 1 sold, 0 undone.' }).waitFor()

    await sql(
      page,
      `insert into shop.ledger (key, service, what, amount, "order", worker)
       values ('by hand', 'card', 'charge', 4200, 'nobody', 'you') returning key`,
    )
    await page
      .getByRole('alert')
      .filter({
        hasText: 'It does not balance: 1 order is in between, and nothing is under way; 1 sold, 0 undone.',
      })
      .waitFor()
  })

  it('c crashes the worker that works, says so, and says why it cannot', async () => {
    const { page, complaints } = await visit(browser, inject('playground'))
    await starts(page)
    await page.keyboard.press('c')
    await page.getByRole('alert').filter({ hasText: 'No worker executes a step now' }).waitFor()
    await page.keyboard.press('s')
    await page.locator('.who').getByText('worker').waitFor()
    await page.keyboard.press('c')
    await page.getByText('is gone: its thread was ended').waitFor()
    await page.locator('.who').getByText('gone').waitFor()
    await page.getByRole('status').filter({ hasText: 'is gone.' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(complaints()).toEqual([])
  })

  it('the tour leads to its end by keyboard alone, and Escape leaves it', async () => {
    const { page, complaints } = await visit(browser, inject('playground'))
    await starts(page)
    const tour = page.getByRole('region', { name: 'Tour' })
    await tour.getByRole('button', { name: 'Take the tour' }).press('Enter')
    const sentence = tour.locator('#tour-sentence')
    for (;;) {
      const text = (await sentence.textContent()) ?? ''
      if (text.startsWith('That was the tour')) break
      const goesOn = sentence.filter({ hasNotText: text })
      const here = page.locator('[data-here]:focus')
      // What to press has the focus; what is only to be watched leaves it where it is.
      await goesOn.or(here).first().waitFor()
      const isPressed = (await here.count()) > 0
      // Read after the focus: both change at once, and the focus may be of the next sentence.
      if (isPressed && (await sentence.textContent()) === text) await pressFor(page, text, goesOn)
    }
    await page.keyboard.press('Escape')
    await tour.waitFor({ state: 'detached' })
    expect(complaints()).toEqual([])
  })

  it('letters can be switched off', async () => {
    const { page } = await visit(browser, inject('playground'))
    await starts(page)
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByLabel('Letters are keys').press('Space')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('c')
    await page.keyboard.press('?')
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('the page’s own failure is an alert with a way out', async () => {
    const context = await browser.newContext({ viewport: SIZES.wide })
    const page = await context.newPage()
    await page.route('**/snapshot.tar.gz', (route) => route.fulfill({ status: 404 }))
    await page.goto(inject('playground'))
    const alert = page.getByRole('alert')
    await alert.filter({ hasText: 'The playground cannot go on: snapshot.tar.gz cannot be loaded' }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await page.unroute('**/snapshot.tar.gz')
    await alert.getByRole('button', { name: 'Start afresh' }).click()
    await plays(page)
    await context.close()
  })
})

async function starts(page: Page): Promise<void> {
  await page.locator('[data-tour=start]:visible:enabled').waitFor()
}

/** In the header of a wide page, in the bar of a narrow one. */
async function start(page: Page): Promise<void> {
  await page.locator('[data-tour=start]:visible').click()
}

/** Some examples fail every other run. */
async function startUntil(page: Page, word: 'Undone' | 'Completed'): Promise<void> {
  const head = page.locator('.run-head')
  for (let run = 0; run < 2; run += 1) {
    const [before = 'none'] = await head.getByRole('heading').allTextContents()
    await start(page)
    const ended = head.filter({ hasNotText: before }).filter({ hasText: /Undone|Completed/ })
    if ((await ended.locator('.badge').textContent()) === word) return
  }
  throw new Error(`Neither of two runs is ${word}.`)
}

/** The worker that executes a step. */
async function crash(page: Page): Promise<void> {
  await page.locator('.who').getByText('worker').waitFor()
  await page.locator('body').press('c')
  await page.locator('.who').getByText('gone').waitFor()
}

/** Presses what the sentence asks for, on what has the focus, until the tour goes on or the run has ended. */
async function pressFor(page: Page, sentence: string, goesOn: Locator): Promise<void> {
  const head = page.locator('.run-head')
  const [before = 'none'] = await head.getByRole('heading').allTextContents()
  // The examples of the tour stand one below the other.
  const key = sentence.startsWith('Choose')
    ? 'ArrowDown'
    : sentence.includes('service again')
      ? 'Space'
      : 'Enter'
  await page.keyboard.press(key)
  const ended = head.filter({ hasNotText: before }).filter({ hasText: /Undone|Completed/ })
  await goesOn.or(ended).first().waitFor()
}
