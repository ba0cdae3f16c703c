import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { holdDryRuns, LOOKS, onScreen, pageAt, startPages } from './setup/pages.ts'
import { HOSTILE, type Waits, waits } from './setup/waiting.ts'

onScreen('waiting', () => {
  let at: Waits
  let url: string
  beforeAll(async () => {
    at = await waits({ isShared: true })
    url = await startPages(at.worker)
  })

  const open = (options = {}) => pageAt(`${url}waiting`, options, (page) => page.getByRole('row').nth(1))
  const row = (page: Page, step: string) =>
    page.getByRole('row').filter({ has: page.getByText(step, { exact: true }) })

  it.each(LOOKS)(
    'no finding of axe, no complaint, no sideways scrolling: %s, %s',
    async (colorScheme, size) => {
      const { page, complaints } = await open({ colorScheme, viewport: SIZES[size] })
      expect(await axeFindings(page)).toEqual([])
      expect(await sideways(page)).toBe(0)
      expect(await row(page, 'boss').textContent()).toContain(HOSTILE)
      expect(await page.locator('img').count()).toBe(0)
      expect(complaints()).toEqual([])
    },
  )

  it('reject, with a comment, by keyboard alone', async () => {
    const { page, complaints } = await open()
    await press(page, 'g', 'a')
    await tabTo(page, 'Approvals', '.views')
    await press(page, 'Enter')
    await row(page, 'handedOver').waitFor({ state: 'detached' })
    await tabTo(page, 'Reject…')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog', { name: 'Reject manager' })
    await dialog.getByText('would fail: the run would be undone').waitFor()
    await tabTo(page, 'Comment')
    await page.keyboard.type('over budget')
    await press(page, 'Enter')
    await dialog.getByText('Delivered').waitFor()
    await press(page, 'Escape')
    await row(page, 'manager').waitFor({ state: 'detached' })
    const [entry] = await at.worker.runs.history(at.ids['expense:1'])
    expect(entry!.change).toMatchObject({ approved: false, by: 'ada', comment: 'over budget' })
    expect(complaints()).toEqual([])
  })

  it('several are decided with one comment, each with what it is about', async () => {
    const own = await waits()
    const { page, complaints } = await pageAt(`${await startPages(own.worker)}waiting`, {}, (shownPage) =>
      shownPage.getByRole('row').nth(1),
    )
    expect(await row(page, 'finance').textContent()).toContain('amount 420')
    await page.getByLabel('Select finance of expense:1').check()
    await page.getByLabel(`Select boss of ${HOSTILE}`).check()
    await page.getByRole('region', { name: 'Selected approvals' }).getByText('Approve').click()
    const dialog = page.getByRole('dialog', { name: 'Approve 2 steps' })
    expect(await dialog.textContent()).toContain('purpose a train to Bern')
    expect(await dialog.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    expect(await axeFindings(page, 'dialog')).toEqual([])
    await dialog.getByLabel('Comment, kept with the decision (needed)').fill('checked by phone')
    await press(page, 'Enter')
    await dialog.getByText('2 steps approved.').waitFor()
    await press(page, 'Escape')
    await row(page, 'finance').waitFor({ state: 'detached' })
    for (const id of [own.ids['expense:1'], own.ids.hostile]) {
      const [entry] = await own.worker.runs.history(id)
      expect(entry!.change).toMatchObject({ approved: true, by: 'ada', comment: 'checked by phone' })
    }
    expect(complaints()).toEqual([])
  })

  it('who sends a decision before the dry run has answered is not ignored', async () => {
    const { page, complaints } = await open()
    const letGo = await holdDryRuns(page)
    await row(page, 'boss').getByRole('button', { name: 'Approve' }).click()
    const dialog = page.getByRole('dialog', { name: 'Approve boss' })
    await dialog.getByLabel('Comment').fill('paid in advance')
    await press(page, 'Enter')
    letGo()
    await dialog.getByText('Delivered').waitFor()
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(1)
    expect(complaints()).toEqual([])
  })

  it('a signal by hand, whose payload is told what is wrong at its field, and then taken', async () => {
    const { page, complaints } = await open()
    await row(page, 'handedOver').getByRole('button').click()
    const dialog = page.getByRole('dialog')
    const field = dialog.getByLabel('Payload, as JSON')
    await field.fill('{"amount":"seven"}')
    await dialog.getByRole('button', { name: 'Send it' }).click()
    await dialog.getByText('Expected a number of euros').last().waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await dialog.locator('#issues').textContent()).toBe('amount Expected a number of euros')
    expect(await axeFindings(page, 'dialog')).toEqual([])
    await field.fill('{"amount":7}')
    await dialog.getByRole('button', { name: 'Send it' }).click()
    await dialog.getByText('Delivered: "handedOver" goes on.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await row(page, 'handedOver').waitFor({ state: 'detached' })
    expect(complaints()).toEqual([])
  })
})
