import type { Page } from 'playwright-core'

/** Presses keys, one after the other. */
export async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Presses a key until that is so: by a number of presses, not by a time. */
export async function pressUntil(page: Page, key: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 100; presses += 1) {
    if (await isSo()) return
    await press(page, key)
  }
  throw new Error(`${key} does not lead there.`)
}

/** Whether the control has the focus whose label, or else whose text, has these words. `within` may narrow it to a part of the page. */
export function isAt(page: Page, words: string, within = 'body'): Promise<boolean> {
  return page.evaluate(
    ([text, part]) => {
      const element = document.activeElement
      if (element?.matches('a, button, input, textarea, summary, [role="treeitem"]') !== true) return false
      const { labels } = element as HTMLInputElement
      const name = element.getAttribute('aria-label') ?? labels?.item(0)?.textContent ?? element.textContent
      return name.includes(text) && element.closest(part) !== null
    },
    [words, within] as const,
  )
}

/** Goes on with Tab until such a control has the focus. */
export function tabTo(page: Page, words: string, within?: string): Promise<void> {
  return pressUntil(page, 'Tab', () => isAt(page, words, within))
}
