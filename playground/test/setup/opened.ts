import type { Browser, Page } from 'playwright-core'
import { inject } from 'vitest'
import { visit } from '../../../packages/dashboard/test/setup/browser.ts'

/** The playground in a page of its own, once it plays. `preset`: by its title. */
export async function opened(browser: Browser, preset?: string) {
  const { page, complaints } = await visit(browser, inject('playground'))
  await plays(page)
  if (preset !== undefined) {
    await page.getByLabel('Example').selectOption({ label: preset })
    await plays(page)
  }
  return { page, complaints }
}

export async function plays(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start a run', disabled: false }).waitFor()
  await page.getByRole('status').filter({ hasText: 'Starting' }).waitFor({ state: 'detached' })
}

/** Replaces the code in the editor. */
export async function write(page: Page, code: string): Promise<void> {
  await (await editor(page)).focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(code)
}

/** What stands in the editor. */
export async function written(page: Page): Promise<string> {
  const lines = await (await editor(page)).locator('.cm-line').allTextContents()
  return `${lines.join('\n').trimEnd()}\n`
}

/** Once it has taken the place of the plain field: before, it takes no focus. */
async function editor(page: Page) {
  const content = page.locator('.cm-content')
  await content.waitFor()
  return content
}

/** Asks the page's own database, through its own box. */
export async function sql(page: Page, text: string): Promise<readonly (readonly string[])[]> {
  await page.getByRole('tab', { name: 'SQL' }).click()
  const box = page.getByRole('region', { name: 'SQL' })
  await box.getByLabel('SQL on this database').fill(text)
  const before = Number(await box.getAttribute('data-answers'))
  await box.getByRole('button', { name: 'Run' }).click()
  await page.locator(`[data-answers="${before + 1}"]`).waitFor()
  return box
    .getByRole('table')
    .evaluate((table) =>
      [...table.querySelectorAll('tbody tr')].map((row) =>
        [...row.children].map((cell) => cell.textContent ?? ''),
      ),
    )
}

/** The story has such a line. */
export async function said(page: Page, text: RegExp): Promise<void> {
  const story = page.getByRole('region', { name: 'What happened' })
  await story.getByRole('listitem').filter({ hasText: text }).first().waitFor()
}
