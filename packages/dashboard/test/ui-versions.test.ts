import type { Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { MAIN, onScreen, pageAt, shown, startPages } from './setup/pages.ts'
import { HOSTILE, type Parcels, parcel2, parcels } from './setup/parcels.ts'

onScreen('versions, two runs, and saved views', () => {
  let at: Parcels
  let url: string
  beforeAll(async () => {
    at = await parcels({ isShared: true })
    url = await startPages(at.worker, 'all', {
      workflows: [parcel2],
      views: [{ name: `Parcels ${HOSTILE}`, query: 'workflow=parcel&status=waiting' }],
    })
  }, 60_000)

  const open = (path: string) => pageAt(url + path, {}, MAIN)
  const look = async (page: Page) => {
    for (const [colorScheme, size] of [
      ['light', SIZES.wide],
      ['dark', SIZES.wide],
      ['dark', SIZES.narrow],
      ['light', SIZES.narrow],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(size)
      const shots = process.env['SHOTS']
      if (shots)
        await page.screenshot({
          path: `${shots}/${new URL(page.url()).pathname.split('/').slice(3).join('-')}-${colorScheme}-${size.width}.png`,
          fullPage: true,
        })
      expect(await axeFindings(page)).toEqual([])
      expect(await sideways(page)).toBe(0)
    }
    await page.setViewportSize(SIZES.wide)
  }

  it('the list and the diff of two versions have no findings, and tell the same as table and as picture', async () => {
    const { page, complaints } = await open('versions')
    await page.getByRole('link', { name: '3 live runs' }).waitFor()
    await look(page)
    await page.getByRole('link', { name: 'parcel', exact: true }).click()
    await shown(page, 'Since v1, v2 has 2 steps more, lacks 1, and changed 1.')
    await page.getByRole('treeitem', { name: 'inspect work, no undo added' }).waitFor()
    await page.getByRole('treeitem', { name: 'bill work, has an undo changed: dependencies, undo' }).waitFor()
    const rows = page.getByRole('table', { name: 'Steps that differ' }).getByRole('row')
    expect(await rows.allTextContents()).toEqual([
      'StepWhatv1v2',
      'inspectaddedhas no such stepwork, after fetched, no undo',
      'photographaddedhas no such stepwork, after inspect, no undo',
      'weighremovedwork, after fetched, no undohas no such step',
      'billdependenciesafter weighafter inspect',
      'billundono undohas an undo',
    ])
    await shown(page, 'v2 has no weigh: a run in which such a step has begun is refused.')
    await look(page)
    await page.getByRole('combobox', { name: 'To' }).selectOption('1')
    await shown(page, 'v1 and v1 have the same graph.')
    await page.goto(`${url}versions/parcel?from=2&to=1`)
    await shown(page, 'v2 has no live run to move.')
    await page.goto(`${url}versions/${encodeURIComponent(`a/${HOSTILE}`)}`)
    await shown(page, 'There is no such workflow or version')
    await shown(page, `a/${HOSTILE}`)
    expect(complaints(/404/)).toEqual([])
  })

  it('who may not move runs, or has no definition, is told what does it', async () => {
    const others = await startPages(at.worker, [], { workflows: [parcel2] })
    const { page } = await pageAt(`${others}versions/parcel`)
    const button = page.getByRole('button', { name: 'Move 3 runs to v2…' })
    await button.waitFor()
    expect(await button.isDisabled()).toBe(true)
    expect(await button.getAttribute('title')).toContain('you lack runs.move')
    const without = await startPages(at.worker)
    await page.goto(`${without}versions/parcel`)
    await shown(page, 'This dashboard has no definition of v2')
    await shown(page, "belay move --workflow parcel --version 1 --to 2 --reason '…'")
    expect(await button.count()).toBe(0)
  })

  it('two runs are compared: where they part, both graphs, both timelines, and a table', async () => {
    const pair = new URLSearchParams({ a: 'parcel/old', b: at.ids[HOSTILE]! })
    const { page, complaints } = await open(`compare?${pair}`)
    await shown(page, 'They part at fetched: A completed it at the first attempt, B waits in it')
    await shown(page, HOSTILE)
    await page.getByRole('treeitem', { name: /^fetched A completed.* B waiting/ }).waitFor()
    const rows = page.getByRole('table', { name: /differ first/ }).getByRole('row')
    expect(await rows.nth(1).textContent()).toMatch(/^fetchedstate/)
    expect(await rows.last().textContent()).toMatch(/^packnothing/)
    await page.getByRole('img', { name: 'Timelines of A and B' }).waitFor()
    await look(page)
    expect(await page.locator('img').count()).toBe(0)
    await page.goto(`${url}compare?a=old&b=new`)
    await shown(page, 'They have different versions')
    await page.getByRole('treeitem', { name: 'inspect A has no such step B completed' }).waitFor()
    await page.goto(`${url}compare?a=old&b=nobody`)
    await shown(page, 'There is no such run')
    expect(complaints(/404/)).toEqual([])
  })

  it('by keyboard alone: from two selected runs, from a run with another one, and from nowhere', async () => {
    const { page, complaints } = await open('runs?key=old')
    await page.getByRole('link', { name: 'old' }).waitFor()
    await press(page, 'j', 'Enter')
    await tabTo(page, 'Compare…')
    await press(page, 'Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'new', exact: true }).waitFor()
    expect(await axeFindings(page)).toEqual([])
    await tabTo(page, 'Or by its key')
    await page.keyboard.type('parcel:1')
    await press(page, 'Enter')
    await shown(page, /They part at fetched/)
    await page.goto(`${url}runs?workflow=parcel&status=waiting`)
    await shown(page, 'parcel:2')
    await press(page, 'j', 'x', 'j', 'x', 'a')
    await tabTo(page, 'Compare', '.selection')
    await press(page, 'Enter')
    await shown(page, 'They do not part')
    await page.goto(`${url}compare`)
    await tabTo(page, 'Run A')
    await page.keyboard.type('old')
    await press(page, 'Tab')
    await page.keyboard.type('new')
    await press(page, 'Enter')
    await shown(page, 'They part at')
    expect(complaints()).toEqual([])
  })

  it('by keyboard alone: a filter is saved by name, found again, renamed and removed', async () => {
    const { page, complaints } = await open('runs?workflow=parcel')
    const views = page.getByRole('navigation', { name: 'Views' })
    await views.getByRole('link', { name: `Parcels ${HOSTILE}` }).waitFor()
    await tabTo(page, 'Save this view…')
    await press(page, 'Enter')
    await tabTo(page, 'Name')
    await page.keyboard.type('A view with a name that is as long as names of views can be')
    await press(page, 'Enter')
    await views.getByRole('link', { name: 'A view with a name' }).waitFor()
    await look(page)
    await page.goto(`${url}versions`)
    // Once the store has answered, the keys are bound.
    await page.getByRole('link', { name: 'parcel', exact: true }).waitFor()
    await press(page, 'Control+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('A view with')
    await page.getByRole('option', { name: 'A view with a name' }).waitFor()
    await press(page, 'Enter')
    await vi.waitFor(() => expect(page.url()).toContain('runs?workflow=parcel'), 20_000)
    await tabTo(page, 'Save this view…')
    await press(page, 'Enter')
    await tabTo(page, 'Name of A view')
    await press(page, 'Control+a')
    await page.keyboard.type(HOSTILE)
    await press(page, 'Tab')
    await views.getByRole('link', { name: HOSTILE, exact: true }).waitFor()
    await look(page)
    await tabTo(page, `Remove ${HOSTILE}`)
    await press(page, 'Enter')
    await views.getByRole('link', { name: HOSTILE, exact: true }).waitFor({ state: 'detached' })
    await page.reload()
    await views.getByRole('link', { name: `Parcels ${HOSTILE}` }).waitFor()
    expect(await views.getByRole('link').count()).toBe(5)
    expect(await page.locator('img').count()).toBe(0)
    expect(complaints()).toEqual([])
  })

  it('by keyboard alone: three runs move to the new version', async () => {
    const { page, complaints } = await open('runs')
    await shown(page, 'parcel:2')
    await press(page, 'g', 'v')
    await page.getByRole('link', { name: '3 live runs' }).waitFor()
    await tabTo(page, 'parcel', '.lines')
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Move 3 runs to v2…' }).waitFor()
    await tabTo(page, 'Move 3 runs')
    await press(page, 'Enter')
    await page.locator('.repair-steps > .done').getByRole('heading', { name: 'Counted' }).waitFor()
    await tabTo(page, 'Reason', 'main')
    await page.keyboard.type('each parcel is inspected since today')
    await press(page, 'Enter')
    await page.locator('.repair-steps').getByText('3 runs were moved to v2.').waitFor()
    expect((await at.worker.runs.count({ version: 2, status: 'waiting' })).count).toBe(3)
    expect(complaints()).toEqual([])
  })
})
