import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { axeFindings, SIZES, sideways } from './setup/browser.ts'
import { press, tabTo } from './setup/keyboard.ts'
import { type Limited, limited } from './setup/limits.ts'
import { LOOKS, onScreen, pageAt, startPages } from './setup/pages.ts'
import { HOSTILE } from './setup/waiting.ts'

onScreen('limits', () => {
  let at: Limited
  let url: string
  beforeAll(async () => {
    at = await limited({ isShared: true })
    url = await startPages(at.worker)
  })

  const open = (options = {}) =>
    pageAt(`${url}limits`, options, (page) => page.getByRole('heading', { name: 'payments' }))
  const line = (page: Page, key: string) => page.getByRole('listitem').filter({ hasText: key })

  it.each(LOOKS)(
    'no finding of axe, no complaint, no sideways scrolling: %s, %s',
    async (colorScheme, size) => {
      const { page, complaints } = await open({ colorScheme, viewport: SIZES[size] })
      expect(await line(page, 'acme').textContent()).toMatch(/2 of 2.*4 in line.*is first/)
      expect(await line(page, HOSTILE).textContent()).toContain('1 in line')
      expect(await page.locator('img').count()).toBe(0)
      await page.getByRole('button', { name: 'Change… payments' }).click()
      await page.getByText('There was nothing').or(page.getByText('Asking what')).first().waitFor()
      expect(await axeFindings(page)).toEqual([])
      expect(await sideways(page)).toBe(0)
      expect(complaints()).toEqual([])
    },
  )

  it('change a limit, with a reason, by keyboard alone, and take it back', async () => {
    const { page, complaints } = await open()
    await press(page, 'g', 'l')
    await tabTo(page, 'Change… payments')
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog', { name: 'Change payments' })
    await tabTo(page, 'Slots of each key')
    await press(page, 'Control+a')
    await page.keyboard.type('3')
    await dialog.getByText('would allow 3 slots for each key').waitFor()
    await tabTo(page, 'Reason')
    await page.keyboard.type('the bank allows it')
    await press(page, 'Enter')
    await dialog.getByText('It allowed 2 slots and now allows 3 slots for each key.').waitFor()
    await press(page, 'Escape')
    await line(page, 'acme').filter({ hasText: '3 of 3' }).waitFor()
    expect((await at.worker.limits.get('payments'))?.set).toBe(3)
    await page.getByText('ada did it').waitFor()
    await page.getByText('the bank allows it').waitFor()
    await page.getByText('code declares 2 slots').waitFor()

    await tabTo(page, 'Change… payments')
    await press(page, 'Enter')
    await tabTo(page, 'What code declares')
    await press(page, 'Space')
    await dialog.getByText('would allow 2 slots for each key').waitFor()
    await tabTo(page, 'Reason')
    await page.keyboard.type('over')
    await press(page, 'Enter')
    await dialog.getByText('now allows 2 slots').waitFor()
    expect((await at.worker.limits.get('payments'))?.set).toBeUndefined()
    expect(complaints()).toEqual([])
  })
})
