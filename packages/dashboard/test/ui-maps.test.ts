import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { type Mapped, mapped, stands, world } from './setup/maps.ts'
import { holdDryRuns, LOOKS, onScreen, pageAt, startPages } from './setup/pages.ts'
import { HOSTILE } from './setup/waiting.ts'

/** Where pictures are put, to be looked at. */
const pictures = process.env['BELAY_PICTURES']

onScreen('items of a map', () => {
  let at: Mapped
  let url: string
  beforeAll(async () => {
    at = await mapped()
    url = await startPages(at.worker)
  }, 60_000)

  const open = (run: keyof Mapped['runs'], options = {}) =>
    pageAt(`${url}runs/${at.runs[run].id}/items`, options, (page) =>
      page.getByRole('table', { name: 'Why items fail' }),
    )
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

  it.each(LOOKS)(
    'no finding of axe, no complaint, no sideways scrolling: %s, %s',
    async (colorScheme, size) => {
      const { page, complaints } = await open('importing', { colorScheme, viewport: SIZES[size] })
      expect(await row(page, 'quota').textContent()).toMatch(
        /quota exceeded for region.*next attempt.*5.*importCity\[4–7\], \[30\]/,
      )
      expect(await row(page, 'is no city').textContent()).toContain(`importCity[${HOSTILE}]`)
      await row(page, 'quota').getByText('Choose some').click()
      const picture = async (name: string) => {
        if (pictures === undefined) return
        await page.screenshot({
          path: join(pictures, `maps-${name}-${size}-${colorScheme}.png`),
          fullPage: true,
        })
      }
      await picture('page')
      expect(await axeFindings(page)).toEqual([])
      await row(page, 'is no city').getByRole('button', { name: 'Skip 1' }).click()
      await page.getByText('1 item would be skipped. Nothing has been changed.').waitFor()
      await picture('dialog')
      expect(await axeFindings(page)).toEqual([])
      expect(await sideways(page)).toBe(0)
      expect(await page.locator('img').count()).toBe(0)
      expect(complaints()).toEqual([])
    },
  )

  it('where nothing can be done about items, the page says what helps', async () => {
    const { page } = await open('collecting')
    await row(page, 'account is closed').getByText('The map goes on without them').waitFor()
    const ended = await open('failing')
    const group = row(ended.page, 'account is closed')
    await group.getByText('only a retry of the whole run helps').waitFor()
    await group.getByRole('button', { name: 'Retry…' }).click()
    await ended.page.getByRole('dialog', { name: 'Send the run forward again' }).waitFor()
  })

  it('chosen items alone are marked as undone', async () => {
    const { page } = await open('undoing')
    const group = row(page, 'refund window closed')
    await group.getByText('Choose some').click()
    await group.getByLabel('3').check()
    await group.getByRole('button', { name: 'Mark 1 as undone chosen' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 item would be marked as undone').waitFor()
    await dialog.getByLabel('Reason').fill('refunded by hand')
    await dialog.getByRole('button', { name: 'Mark as undone' }).click()
    await dialog.getByText('1 item is marked as undone.').waitFor()
    await stands(at.worker, at.runs.undoing, 'post', { compensated: 4, compensation_failed: 2 })
  })

  it('who confirms before the dry run has ended is neither ignored nor heard twice', async () => {
    const { page } = await open('posting')
    const letGo = await holdDryRuns(page)
    await row(page, 'account is closed').getByRole('button', { name: 'Retry 3' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('they were opened again')
    await press(page, 'Enter', 'Enter')
    letGo()
    await dialog.getByText('3 items are due again.').waitFor()
    expect(await at.runs.posting.history()).toHaveLength(3)
  })

  it('the strip, by keyboard alone: arrows move, Enter opens the item', async () => {
    const { page } = await open('importing')
    const strip = page.getByRole('slider', { name: 'Items of importCity' })
    await strip.focus()
    await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight')
    expect(await strip.getAttribute('aria-valuetext')).toBe('Item 5, 4: ready')
    expect(await page.getByRole('list', { name: 'Items of importCity' }).count()).toBe(0)
    await press(page, 'Enter')
    const list = page.getByRole('list', { name: 'Items of importCity' })
    await list.getByRole('listitem').first().getByText('quota exceeded for region').waitFor()
  })

  it('retry the items of one group, by keyboard alone', async () => {
    const { page, complaints } = await pageAt(`${url}runs/${at.runs.importing.id}`)
    await page.getByRole('link', { name: 'Items' }).waitFor()
    await tabTo(page, 'Items')
    await press(page, 'Enter')
    await row(page, 'quota').waitFor()
    world.geocoder = 'open'
    await tabTo(page, 'Retry 5')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog', { name: 'Retry 5 items of importCity' })
    await dialog.getByText('5 items would be due again. Nothing has been changed.').waitFor()
    await tabTo(page, 'Reason')
    await page.keyboard.type('the quota is raised')
    await press(page, 'Enter')
    await dialog.getByText('5 items are due again.').waitFor()
    await press(page, 'Escape')
    await stands(at.worker, at.runs.importing, 'importCity', { completed: 59, ready: 1 })
    await row(page, 'quota').waitFor({ state: 'detached' })
    expect((await at.runs.importing.history()).map(({ action, by }) => [action, by])).toEqual(
      Array.from({ length: 5 }, () => ['retry_step', 'ada']),
    )
    expect(complaints()).toEqual([])
  })
})
