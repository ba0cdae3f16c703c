import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  axeFindings,
  noBrowser,
  startBrowser,
  THEMES,
  visit,
} from '../../packages/dashboard/test/setup/browser.ts'
import { PRESETS } from '../src/presets/index.ts'
import { opened, plays, sql, write, written } from './setup/opened.ts'

const CRASH = PRESETS[0].code
const ENDING = `export default play({ workflows: [order], start: (engine) => engine.run(order) })`

/** Each way to be wrong: the code, and what the reader is told. */
const MISTAKES: Readonly<Record<string, readonly [code: string, told: string | RegExp]>> = {
  'a syntax error': ["import { play } from 'playground'\n\nconst order = define(", /^Line 3: /],
  'a syntax error that only the browser sees': [
    "import { play } from 'playground'\nconst workflows = 4\nconst workflows = 5\nexport default play({ workflows })",
    /has already been declared/,
  ],
  'an expression that is missing': [
    "import { play } from 'playground'\nconst a = [1, 2\nconst b = ;\nexport default play(a)",
    /^Line [23]: /,
  ],
  'an unknown module': [
    "import { define } from '@belay/workflow'\nimport { readFile } from 'node:fs'\nreadFile(define)",
    'Line 2: There is no module "node:fs" here: import @belay/workflow and playground at the top.',
  ],
  'an unknown export': [
    "import { define } from '@belay/workflow'\nimport { play, truck } from 'playground'\nexport default play(truck)",
    'Line 2: There is no truck in playground.',
  ],
  'a name that nothing has': [
    `import { define } from '@belay/workflow'\n\ninterface Order {\n  id: string\n}\n\nordr('x')`,
    'Line 7: ordr is not defined',
  ],
  'a definition that define() refuses': [
    `import { define } from '@belay/workflow'\nimport { play } from 'playground'\n\nconst order = define('order', { version: 1 })\n  .step('ship', { dependsOn: ['pack'], run: () => {} })\n\n${ENDING}`,
    /^Line 5: .*"pack"/,
  ],
  'no play() at the end': [
    "import { define } from '@belay/workflow'\nexport default define('order', { version: 1 })",
    'End with export default play({ workflows: […], start: (engine, number) => … }).',
  ],
  'a definition that createEngine() refuses': [
    `import { define } from '@belay/workflow'\nimport { play } from 'playground'\nconst order = define('order', { version: 1 }).step('a', { run: () => {} })\n${ENDING.replace('[order]', '[order, order]')}`,
    /workflows holds order version 1 twice/,
  ],
}

describe.skipIf(noBrowser)(`code${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('each mistake is told at its line, what played goes on, and repaired code plays', async () => {
    const { page, complaints } = await opened(browser)
    await page.getByRole('button', { name: 'Start a run' }).click()
    for (const [mistake, [code, told]] of Object.entries(MISTAKES)) {
      await write(page, code)
      await playIt(page)
      const alert = page.getByRole('region', { name: 'Code' }).getByRole('alert')
      const text = (await alert.textContent()) ?? ''
      expect([mistake, text]).toEqual([
        mistake,
        typeof told === 'string' ? `${told} What played before goes on.` : expect.stringMatching(told),
      ])
      const line = /^Line (\d+)/.exec(text)?.[1]
      if (line !== undefined)
        expect(await page.locator('.cm-line.wrong').textContent()).toBe(code.split('\n')[Number(line) - 1])
      await write(page, CRASH)
      await playIt(page)
      expect(await alert.count()).toBe(0)
    }
    await page.getByRole('button', { name: 'Start a run' }).click()
    while (
      (
        await sql(page, `select count(*) from belay.workflow_run_overview where status = 'completed'`)
      )[0]?.[0] !== '2'
    )
      await page.waitForTimeout(200)
    expect(complaints()).toEqual([])
  })

  it('whoever writes while the editor is being loaded goes on writing in it', async () => {
    const page = await browser.newPage()
    let load = () => {}
    const asked = new Promise<void>((resolve) => {
      load = resolve
    })
    await page.route(/code-mirror/, async (route) => {
      await asked
      await route.continue()
    })
    await page.goto(address())
    await page.locator('textarea[aria-label="Code in TypeScript"]').fill('const a')
    load()
    await page.locator('.cm-content').waitFor()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type(' = 1')
    expect(await page.locator('.cm-content').textContent()).toBe('const a = 1')
    await page.close()
  })

  it('keys: Ctrl + Enter plays the code, and Tab leaves the editor', async () => {
    const { page, complaints } = await opened(browser)
    await write(page, '// all of it')
    await page.keyboard.press('ControlOrMeta+a')
    // In one moment, as on a page that is busy.
    await page.locator('.cm-content').evaluate((editor) => {
      document.execCommand('insertText', false, 'const')
      const enter = { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }
      editor.dispatchEvent(new KeyboardEvent('keydown', enter))
    })
    await page.getByText('What played before goes on.').waitFor()
    expect(await written(page)).toBe('const\n')
    await page.keyboard.press('Tab')
    expect(
      await page
        .getByRole('button', { name: 'Play this code' })
        .evaluate((button) => button === document.activeElement),
    ).toBe(true)
    expect(complaints()).toEqual([])
  })

  it.each(THEMES)('the editor has nothing that axe finds, also with a mistake: %s', async (colorScheme) => {
    const { page, complaints } = await visit(browser, address(), { colorScheme })
    await plays(page)
    await write(page, `// a comment\nconst cents: number = 'text'.length + 4\nnothing()\n${CRASH}`)
    expect(await axeFindings(page, '.code')).toEqual([])
    await page.keyboard.press('Control+Enter')
    await page.getByText('What played before goes on.').waitFor()
    expect(await axeFindings(page, '.code')).toEqual([])
    expect(complaints()).toEqual([])
  })
})

const address = () => inject('playground')

async function playIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Play this code' }).click()
  await page.getByText('Loading the code').waitFor({ state: 'detached' })
}
