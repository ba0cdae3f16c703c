import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser, startBrowser } from '../../packages/dashboard/test/setup/browser.ts'
import { PRESETS } from '../src/presets/index.ts'
import { opened, sql } from './setup/opened.ts'

interface Playing {
  readonly page: Page
  readonly press: (name: string | RegExp) => Promise<void>
}

interface Journey {
  /** Does what the preset's sentence says. */
  readonly go: (playing: Playing) => Promise<void>
  /** How its runs end: by status. */
  readonly ends: readonly string[]
  /** Of each order in the ledger, with money and goods. */
  readonly orders: readonly (readonly [cents: string, count: string])[]
}

const SOLD = ['4200', '1'] as const
const NOTHING = ['0', '0'] as const

const JOURNEYS: Readonly<Record<string, Journey>> = {
  crash: {
    async go(playing) {
      await playing.press('Start a run')
      await crashWhoRuns(playing, 'chargeCard')
    },
    ends: ['completed'],
    orders: [SOLD],
  },
  undo: {
    async go(playing) {
      await playing.press('Start a run')
      await crashWhoRuns(playing, 'undoes chargeCard')
    },
    ends: ['compensated'],
    orders: [NOTHING],
  },
  parked: {
    async go({ page, press }) {
      await press('Start a run')
      await page
        .getByRole('button', { name: /^retry/i, disabled: false })
        .first()
        .waitFor()
      await press('Open the card service')
      await press(/^retry/i)
    },
    ends: ['compensated'],
    orders: [NOTHING],
  },
  approval: {
    async go(playing) {
      await playing.press('Start a run')
      await until(playing.page, `exists (select from belay.workflow_step_overview where status = 'waiting')`)
      for (const name of ['one', 'two', 'three'])
        await playing.page.getByRole('button', { name: `Crash worker ${name}` }).click()
      await playing.press('Add a worker')
      await playing.press(/^approve/i)
      await playing.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    },
    ends: ['completed'],
    orders: [['90000', '9']],
  },
  map: {
    async go(playing) {
      await playing.press('Start a run')
      await crashWhoRuns(playing, 'takeBox[box-')
    },
    ends: ['completed'],
    orders: [['3900', '39']],
  },
  poll: {
    async go(playing) {
      await playing.press('Start a run')
      await crashWhoRuns(playing, 'askCourier[3]')
    },
    ends: ['completed'],
    orders: [SOLD],
  },
  branch: {
    async go({ press }) {
      for (let n = 0; n < 4; n += 1) await press('Start a run')
    },
    ends: ['completed', 'completed', 'completed', 'completed'],
    orders: [
      ['500', '1'],
      ['500', '2'],
      ['9000', '3'],
      ['9000', '4'],
    ],
  },
  versions: {
    async go({ press }) {
      await press('Start a run')
      await press('Start a run')
    },
    ends: ['completed', 'completed'],
    orders: [SOLD, SOLD],
  },
  limit: {
    async go({ press }) {
      await press('Start 20')
    },
    ends: Array.from({ length: 20 }, () => 'completed'),
    orders: Array.from({ length: 20 }, () => SOLD),
  },
}

describe.skipIf(noBrowser)(`presets${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it.each(Object.entries(JOURNEYS))(
    '%s plays to its end, and the ledger balances',
    async (name, { go, ends, orders }) => {
      const { page, complaints } = await opened(browser, titleOf(name))
      await go({ page, press: (button) => press(page, button) })
      await until(page, '(select count(*) = count(finished_at) and count(*) > 0 from belay.workflow_runs)')
      expect((await sql(page, 'select status from belay.workflow_run_overview')).flat()).toEqual(ends)
      expect(await sql(page, ORDERS)).toEqual(orders)
      expect(complaints()).toEqual([])
      await page.context().close()
    },
  )

  it('schedule begins runs by itself, and each of its times has one run', async () => {
    const { page, complaints } = await opened(browser, titleOf('schedule'))
    await until(page, '(select count(*) > 1 from belay.workflow_runs)')
    await press(page, 'Start a run')
    await page.getByRole('button', { name: 'Crash', disabled: false }).first().click()
    await until(page, '(select count(*) > 3 from belay.workflow_runs where finished_at is not null)')
    const [[between] = []] = await sql(
      page,
      `select count(*) from (${ORDERS}) o where (card > 0) <> (stock > 0)`,
    )
    expect(Number(between)).toBeLessThanOrEqual(2)
    expect(complaints()).toEqual([])
  })

  it('of each preset there is a journey', () => {
    expect([...Object.keys(JOURNEYS), 'schedule'].sort()).toEqual(PRESETS.map(({ name }) => name).sort())
  })
})

const titleOf = (name: string) => PRESETS.find((preset) => preset.name === name)!.title

function press(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole('button', { name, disabled: false }).first().click()
}

const ORDERS = `
select coalesce(sum(amount) filter (where service = 'card'), 0) as card, coalesce(sum(amount) filter (where service = 'stock'), 0) as stock
from shop.ledger group by "order" order by 1, 2`

/** Ends the worker that shows that step, as soon as one does. */
async function crashWhoRuns({ page, press }: Playing, step: string): Promise<void> {
  const workers = page.getByRole('region', { name: 'Workers' }).getByRole('listitem')
  await workers
    .filter({ hasText: step })
    .getByRole('button', { name: 'Crash', disabled: false })
    .first()
    .click()
  await press('Add a worker')
}

/** Until the database says that this is true. */
async function until(page: Page, condition: string): Promise<void> {
  for (;;) {
    const [[answer] = []] = await sql(page, `select (${condition}) as answer`)
    if (answer === 'true') return
    await page.waitForTimeout(100)
  }
}
