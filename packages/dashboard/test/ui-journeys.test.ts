import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { ANSWERS, amongOthers, newerRun, pageOf, RUNS } from './setup/answers.ts'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { type Fixture, startFixture } from './setup/fixture.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { onScreen, pageAt, shown } from './setup/pages.ts'

const at = (page: Page, path: string) =>
  vi.waitFor(
    () => expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`/tools/belay/${path}`),
    10_000,
  )
const names = (page: Page) => page.locator('a[data-run]').allTextContents()

onScreen('the page in use', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await startFixture()
  })
  beforeEach(() => fixture.reset())
  afterAll(() => fixture.stop())

  const open = (path: string) => pageAt(fixture.url + path, {}, (page) => page.getByText('Live runs'))

  it('by keyboard alone: filter, move, peek, open, and back by letters', async () => {
    const { page, complaints } = await open('runs')
    await shown(page, 'order:9231')
    await press(page, '/')
    await page.keyboard.type('status:compensating')
    await press(page, 'Enter')
    await at(page, 'runs?status=compensating')
    await vi.waitFor(async () => expect(await names(page)).toEqual(['order:9229', 'order:9226']), 20_000)
    await press(page, 'Escape', 'j', 'j', 'Space')
    await page.getByRole('complementary', { name: 'Peek at a run' }).getByText('order:9226').waitFor()
    await press(page, 'k')
    await page.getByRole('complementary', { name: 'Peek at a run' }).getByText('order:9229').waitFor()
    await press(page, 'Escape')
    await page.getByRole('complementary').waitFor({ state: 'detached' })
    await press(page, 'Enter')
    await page.getByRole('heading', { name: 'order:9229' }).waitFor()
    await press(page, 'g', 'h')
    await at(page, 'health')
    await press(page, 'g', 'r')
    await at(page, 'runs')
    expect(complaints()).toEqual([])
  })

  it('by keyboard alone: the palette, the keys, the display; what was chosen stays', async () => {
    const { page, complaints } = await open('runs')
    await press(page, 'Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type('health')
    await press(page, 'Enter')
    await at(page, 'health')
    await press(page, '?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await press(page, 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await tabTo(page, 'Display')
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Display' }).waitFor()
    await press(page, 'ArrowRight', 'ArrowRight', 'Tab', 'Tab', 'Tab', 'ArrowRight', 'Escape')
    expect(await page.evaluate(() => ({ ...localStorage }))).toEqual({
      'belay.theme': 'dark',
      'belay.keys': 'off',
    })
    await page.reload()
    await shown(page, 'Live runs')
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await press(page, 'g', 'r')
    await press(page, 'Control+k')
    await page.getByRole('dialog', { name: 'Search or jump' }).waitFor()
    await at(page, 'health')
    expect(complaints()).toEqual([])
  })

  it('newer runs wait above: no row moves until they are asked for', async () => {
    const { page } = await open('runs')
    await shown(page, 'order:9231')
    const before = await names(page)
    fixture.answers = {
      ...ANSWERS,
      runs: (query) => pageOf([...RUNS, newerRun(1), newerRun(2), newerRun(3)], query),
    }
    await shown(page, '3 newer runs')
    expect(await names(page)).toEqual(before)
    await press(page, 'n')
    await vi.waitFor(
      async () =>
        expect((await names(page)).slice(0, 4)).toEqual([
          'order:new-3',
          'order:new-2',
          'order:new-1',
          'order:9231',
        ]),
      10_000,
    )
  })

  it('pages lead to older runs and back to the newest', async () => {
    const many = Array.from({ length: 120 }, (_, index) => newerRun(index + 1))
    fixture.answers = { ...ANSWERS, runs: (query) => pageOf(many, query) }
    const { page } = await open('runs')
    await shown(page, 'order:new-120')
    await press(page, ']')
    await shown(page, 'order:new-70')
    await page.getByRole('link', { name: 'Older' }).click()
    await shown(page, 'order:new-20')
    expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0)
    await press(page, '[')
    await shown(page, 'order:new-70')
    await press(page, '[')
    await shown(page, 'order:new-120')
    await press(page, '[')
    await at(page, 'runs')
  })

  it('while the store is silent the last picture stays, and it goes on when the store does', async () => {
    const { page } = await open('runs')
    await shown(page, 'order:9231')
    fixture.failing = {
      '': { status: 503, problem: { code: 'store_unavailable', message: 'The store cannot be reached.' } },
    }
    await shown(page, 'The store has not answered since')
    expect(await names(page)).toContain('order:9231')
    fixture.failing = {}
    await page.getByText('The store has not answered since').waitFor({ state: 'detached' })
  })

  it('a server that takes questions and answers none is silent after two polls; and it goes on', async () => {
    const { page } = await pageAt('about:blank')
    await page.clock.install()
    await page.goto(`${fixture.url}runs`)
    await shown(page, 'order:9231')
    fixture.failing = { '': 'hangs' }
    await page.clock.runFor(6_500)
    await shown(page, 'The store has not answered since')
    fixture.failing = {}
    fixture.asked.length = 0
    await page.clock.runFor(2_500)
    await page.getByText('The store has not answered since').waitFor({ state: 'detached' })
    // The question that got no answer was given up, and is put again.
    await vi.waitFor(() => expect(fixture.asked.some((path) => path.startsWith('runs?'))).toBe(true), 20_000)
  })

  it('at 1280 pixels a run’s sentence is wide enough to be read', async () => {
    const { page } = await open('runs')
    await page.setViewportSize({ width: 1280, height: 800 })
    await shown(page, 'order:9231')
    const width = await page
      .locator('td.why')
      .first()
      .evaluate(({ clientWidth }) => clientWidth)
    expect(width).toBeGreaterThan(320)
  })

  it('paused, it asks for nothing', async () => {
    const { page } = await pageAt('about:blank')
    await page.clock.install()
    await page.goto(`${fixture.url}runs`)
    await shown(page, 'order:9231')
    await press(page, 'p')
    await shown(page, 'Paused')
    // What was asked for before may still arrive, once. A page that reads asks for dozens in this time, each time.
    await vi.waitFor(async () => {
      const before = fixture.asked.length
      await page.clock.runFor(20_000)
      expect(fixture.asked.length).toBe(before)
    }, 20_000)
    const asked = fixture.asked.length
    await press(page, 'p')
    await page.clock.runFor(3_000)
    await vi.waitFor(() => expect(fixture.asked.length).toBeGreaterThan(asked), 20_000)
  })

  it('a status count filters, a chip takes its condition away, and text is the same filter', async () => {
    const { page } = await open('runs?tag=tenant:7')
    // The count is of the exact status; `failed` alone asks for all that did not succeed.
    await page.getByRole('button', { name: '212 failed' }).click()
    await at(page, 'runs?tag=tenant%3A7&status=failed-only')
    await page.getByRole('button', { name: 'Edit as text' }).click()
    expect(await page.getByRole('textbox', { name: 'Filter the runs' }).inputValue()).toBe(
      'tag:tenant:7 status:failed-only',
    )
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Remove tag tenant:7' }).click()
    await at(page, 'runs?status=failed-only')
  })

  it('a finding shows what helps: the list of its runs, commands to copy, buttons, and what its viewer lacks', async () => {
    const { page, complaints } = await open('health')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const found = (text: RegExp) => page.locator('.findings li').filter({ hasText: text })
    const unserved = found(/No live worker has handlers for workflow “render-labels”/)
    expect(await unserved.getByRole('button', { name: 'Cancel…' }).isDisabled()).toBe(true)
    await unserved.getByText('You lack runs.cancel.').waitFor()
    const move = 'belay move --workflow render-labels --version 4 --to <version> --dry-run'
    await unserved.getByRole('button', { name: `Copy ${move}` }).click()
    await unserved.getByText('Copied', { exact: true }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(move)
    const failing = found(/212 of 1,020 runs/)
    expect(await failing.getByRole('button', { name: 'Retry…' }).count()).toBe(2)
    // As the page shows instants, and not as the engine wrote it.
    expect(await failing.textContent()).toContain('that ended since 17:01:00 failed')
    // Its instants move with each read, and whoever is at its button stays there.
    await failing.getByRole('button', { name: 'Retry…' }).first().focus()
    const moved = (text: string) => text.replaceAll('16:01:00.000Z', '16:01:02.000Z')
    const findings = ANSWERS.health.findings.map((one) => ({
      ...one,
      sentence: moved(one.sentence),
      commands: one.commands.map(moved),
    }))
    fixture.answers = { ...ANSWERS, health: { ...ANSWERS.health, findings } }
    await failing.getByText('that ended since 17:01:02 failed').waitFor()
    expect(await failing.locator(':focus').textContent()).toBe('Retry…')
    await found(/The undo of 41 runs/)
      .getByRole('link', { name: 'Show its runs' })
      .click()
    await at(page, 'runs?workflow=fulfil-order&version=3&status=compensation_failed')
    expect(complaints()).toEqual([])
  })

  it('a branch of the tree of runs shows ten, and leads to the others', async () => {
    fixture.answers = {
      ...ANSWERS,
      run: (name) => (name === RUNS[1]!.id ? ANSWERS.run(name) : amongOthers(name)),
    }
    const { page, complaints } = await open('runs/order:9231')
    const items = page.getByRole('treeitem')
    expect(await items.allTextContents()).toEqual([
      expect.stringContaining('order:9230'),
      expect.stringMatching(/order:9231.*18 runs: 1 undo parked, 1 parked, /),
    ])
    expect(fixture.asked.some((path) => path.startsWith('runs?parent'))).toBe(false)
    await items.nth(1).focus()
    await press(page, 'ArrowRight')
    const older = page.getByRole('treeitem', { name: 'Show older ones in Runs' })
    await older.waitFor()
    expect(await items.count()).toBe(2 + 10 + 1)
    await press(page, 'End', 'Enter')
    await at(page, `runs?parent=${RUNS[0]!.id}`)
    expect(complaints()).toEqual([])
  })

  it('the text of a run stays text', async () => {
    const { page, complaints } = await open('runs')
    await shown(page, '<script>alert(1)</script>')
    expect(complaints()).toEqual([])
  })

  it('narrow, the navigation is a drawer that closes once it led somewhere', async () => {
    const { page, complaints } = await pageAt(`${fixture.url}runs`, { viewport: SIZES.narrow })
    await shown(page, 'order:9231')
    const health = page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Health/ })
    expect(await health.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Navigation' }).click()
    await health.waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(await sideways(page)).toBe(0)
    await health.click()
    await at(page, 'health')
    await health.waitFor({ state: 'hidden' })
    expect(complaints()).toEqual([])
  })

  it('what these tests look for would be found', async () => {
    const { page, complaints } = await open('runs')
    await page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.ran = true'
      document.body.append(document.createElement('img'), script)
    })
    expect((await axeFindings(page)).join()).toContain('image-alt')
    await vi.waitFor(() => expect(complaints().join()).toContain('Content Security Policy'), 20_000)
  })
})
