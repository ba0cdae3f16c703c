import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { axeFindings } from './setup/browser.ts'
import { press } from './setup/keyboard.ts'
import { onScreen, pageAt, pathOf, startPages } from './setup/pages.ts'
import { type Shop, shop } from './setup/shop.ts'

const REFUSED = /Failed to load resource/

onScreen('the words of the screen', () => {
  let at: Shop
  let url: string
  beforeAll(async () => {
    at = await shop({ isShared: true })
    url = await startPages(at.worker)
  })

  const open = (path: string) => pageAt(`${url}${path}`, {}, (page) => page.locator('h1, h2'))
  const keys = (page: Page) => page.locator('a[data-run]').allTextContents()
  const filter = async (page: Page, text: string) => {
    await page.getByLabel('Filter the runs').fill(text)
    await page.keyboard.press('Enter')
  }

  it('are filters, and a wrong one is told in the box with the nearest right one', async () => {
    const { page, complaints } = await open('runs')
    await filter(page, 'status:undonne')
    await page.getByRole('alert').getByText('Did you mean "undone"?').waitFor()
    expect(await page.getByText('This could not be read').count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])

    await page.getByRole('button', { name: 'Remove status undonne' }).click()
    await filter(page, 'status:"Undo parked" status:undone')
    await expect.poll(() => keys(page)).toEqual(['order:9185', 'order:9184'])
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(complaints(REFUSED)).toEqual([])
  })

  it('failed asks for what was undone or is parked too, and each count is a switch of its own', async () => {
    const { page, complaints } = await open('runs')
    await page.getByRole('link', { name: 'Failed today' }).click()
    await expect.poll(() => keys(page)).toEqual(['order:9185', 'order:9184'])
    const pressed = page.getByRole('group', { name: 'Runs by status' }).locator('[aria-pressed="true"]')
    expect((await pressed.allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
      '1 undo parked',
      '0 parked',
      '0 failed',
      '1 undone',
    ])
    await page.getByRole('button', { name: 'undo parked' }).click()
    await expect.poll(() => keys(page)).toEqual(['order:9184'])
    expect(new URL(page.url()).searchParams.getAll('status')).toEqual([
      'parked',
      'failed-only',
      'compensated',
    ])
    expect(complaints()).toEqual([])
  })

  it('a star stands for any end of a key', async () => {
    const { page } = await open('runs')
    await filter(page, 'key:order:918* status:waiting')
    await expect.poll(() => keys(page)).toEqual(['order:9183', 'order:9182'])
  })

  it.each([
    ['order:91', 'order:9185', /^runs\/0/],
    ['ful', 'fulfil-order', /^runs$/],
    ['charge', 'chargeCard', /^versions\/fulfil-order$/],
    ['retr', 'Retry', /^repairs\/new$/],
  ])('the palette finds by a beginning: %s finds %s', async (typed, name, leads) => {
    const { page, complaints } = await open('runs')
    await press(page, 'Control+k')
    await page.keyboard.type(typed)
    const option = page.getByRole('option', { name: new RegExp(`^${name}`) })
    await option.first().waitFor()
    await option.first().click()
    await expect.poll(() => pathOf(page)).toMatch(leads)
    expect(complaints()).toEqual([])
  })

  it('on the page of a run, the palette opens the dialog of what may be done with it', async () => {
    const { page, complaints } = await open(`runs/${at.runs['order:9185'].id}`)
    await press(page, 'Control+k')
    await page.keyboard.type('retry the un')
    await page.getByRole('option', { name: 'Retry the undo chargeCard' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Retry the undo of chargeCard' }).waitFor()
    expect(complaints()).toEqual([])
  })
})
