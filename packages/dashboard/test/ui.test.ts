import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ANSWERS, amongOthers, EMPTY, RUNS } from './setup/answers.ts'
import { axeFindings, SIZES, sideways, THEMES } from './setup/browser.ts'
import { type Fixture, startFixture } from './setup/fixture.ts'
import { onScreen, pageAt } from './setup/pages.ts'

interface Case {
  readonly name: string
  readonly path: string
  /** What the server has, and what fails from the begin. */
  readonly given?: (fixture: Fixture) => void
  /** What a person does then. */
  readonly when?: (page: Page, fixture: Fixture) => Promise<unknown>
  /** A text that stands there when the screen has settled. */
  readonly shows: string
  /** Errors that the browser itself reports of the failure. */
  readonly expected?: RegExp
}

const REFUSED = /Failed to load resource/
const failing = (status: number, code: string, message: string) => ({ status, problem: { code, message } })
const DOWN = failing(503, 'store_unavailable', 'The store cannot be reached: connection refused.')

const fails = (failures: Fixture['failing']) => (fixture: Fixture) => {
  fixture.failing = failures
}

const CASES: readonly Case[] = [
  { name: 'runs', path: 'runs', shows: 'order:9231' },
  {
    name: 'runs-filtered',
    path: 'runs?status=running&status=failed&tag=tenant:7&since=7d',
    shows: 'order:9231',
  },
  { name: 'runs-peek', path: 'runs', when: peek, shows: 'Open steps' },
  {
    name: 'runs-loading',
    path: 'runs',
    given: fails({ 'runs?': 'hangs' }),
    shows: 'All',
  },
  { name: 'runs-empty', path: 'runs', given: empty, shows: 'No run has been started yet' },
  { name: 'runs-no-match', path: 'runs?status=scheduled&key=x', shows: 'No run matches' },
  {
    name: 'runs-error',
    path: 'runs',
    given: fails({ 'runs?': failing(400, 'bad_request', 'since: “soon” is no span of time.') }),
    shows: 'since: “soon” is no span of time.',
    expected: REFUSED,
  },
  {
    name: 'signed-out',
    path: 'runs',
    given: fails({ '': failing(401, 'unauthorized', 'Nobody is signed in.') }),
    shows: 'You are not signed in',
    expected: REFUSED,
  },
  {
    name: 'forbidden',
    path: 'health',
    given: fails({ '': failing(403, 'forbidden', 'ada may not see this store.') }),
    shows: 'You may not see this',
    expected: REFUSED,
  },
  {
    name: 'runs-down',
    path: 'runs',
    when: goDown,
    shows: 'The store has not answered since',
    expected: REFUSED,
  },
  {
    name: 'down-from-the-begin',
    path: 'runs',
    given: fails({ '': DOWN }),
    shows: 'The store does not answer',
    expected: REFUSED,
  },
  { name: 'health', path: 'health', shows: '4 findings' },
  { name: 'health-in-order', path: 'health', given: empty, shows: 'Checked, and in order' },
  { name: 'run', path: `runs/order:9231`, shows: 'reserveStock' },
  {
    name: 'run-among-others',
    path: 'runs/order:9231',
    given: (fixture) => {
      fixture.answers = {
        ...ANSWERS,
        run: (name) => (name === RUNS[1]!.id ? ANSWERS.run(name) : amongOthers(name)),
      }
    },
    when: openBranch,
    shows: 'Show older ones in Runs',
  },
  { name: 'run-unknown', path: 'runs/nobody', shows: 'There is no such run', expected: REFUSED },
  { name: 'palette', path: 'runs', when: palette, shows: 'order:9226' },
  { name: 'keys', path: 'runs', when: (page) => press(page, '?'), shows: 'Peek at the run' },
  {
    name: 'display',
    path: 'runs',
    when: (page) => page.getByRole('button', { name: 'Display' }).click(),
    shows: 'Density',
  },
]

async function press(page: Page, key: string): Promise<void> {
  await page.getByText('order:9231').first().waitFor()
  await page.keyboard.press(key)
}

async function peek(page: Page): Promise<void> {
  await press(page, 'j')
  await page.keyboard.press('Space')
}

async function palette(page: Page): Promise<void> {
  await press(page, 'Control+k')
  await page.keyboard.type('order:9226')
  await page.getByRole('option').first().waitFor()
}

async function openBranch(page: Page): Promise<void> {
  await page.getByRole('treeitem', { name: 'order:9231' }).focus()
  await page.keyboard.press('ArrowRight')
}

async function goDown(page: Page, fixture: Fixture): Promise<void> {
  await page.getByText('order:9231').first().waitFor()
  fixture.failing = { '': DOWN }
}

function empty(fixture: Fixture): void {
  fixture.answers = { ...ANSWERS, ...EMPTY }
}

/** Where pictures of all screens are put, to be looked at. */
const pictures = process.env['BELAY_PICTURES']

onScreen('every screen', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await startFixture()
  })
  beforeEach(() => fixture.reset())
  afterAll(() => fixture.stop())

  for (const { name, path, given, when, shows, expected } of CASES)
    for (const [size, viewport] of Object.entries(SIZES))
      it(`${name}, ${size}: no finding of axe in either theme, no complaint, no sideways scrolling`, async () => {
        given?.(fixture)
        const { page, complaints } = await pageAt(fixture.url + path, { viewport })
        await when?.(page, fixture)
        await page.getByText(shows).first().waitFor({ state: 'attached' })
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          expect(await axeFindings(page), colorScheme).toEqual([])
          if (pictures !== undefined)
            await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`) })
        }
        expect(await sideways(page)).toBe(0)
        expect(complaints(expected)).toEqual([])
      })
})
