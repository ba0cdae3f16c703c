import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { noBrowser, sideways, startBrowser, visit } from '../../packages/dashboard/test/setup/browser.ts'
import { sql } from './setup/opened.ts'

const VIEWPORTS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
]

describe.skipIf(noBrowser)(`a full screen${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())
  // A page that is left open goes on working.
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())))

  describe.each(VIEWPORTS)('$width px wide', (viewport) => {
    const open = async () => {
      const { page } = await visit(browser, inject('playground'), { viewport })
      await page.locator('[data-tour=start]:visible:enabled').waitFor()
      return page
    }

    it('twenty runs do not make the page scroll sideways', async () => {
      const page = await open()

      await page.getByRole('button', { name: 'Start 20' }).click()
      await page.locator('.chip').nth(11).waitFor()

      expect(await sideways(page)).toBe(0)
    })

    it('many runs can be started', async () => {
      const page = await open()

      await page.getByRole('button', { name: '10,000 runs' }).click()

      await page.getByRole('button', { name: 'Start them' }).waitFor()
    })

    it('what becomes of the runs of earlier code leaves the editor its height', async () => {
      const page = await open()
      const editor = page.locator('.editor')
      const height = async () => (await editor.boundingBox())!.height
      const before = await height()

      await forgetVersions(page, 12)
      await page.getByText('They wait until their code plays again.').first().waitFor()

      expect(await height()).toBeGreaterThan(Math.min(before * 0.6, 240))
      expect(await sideways(page)).toBe(0)
    })

    it('without a worker the page says which button goes on', async () => {
      const page = await open()
      for (const name of ['one', 'two', 'three'])
        await page.getByRole('button', { name: `Crash worker ${name}` }).click()

      const add = page.getByRole('button', { name: 'Add a worker' })
      await page
        .getByText('No worker is left: add one, and it takes over once the leases have ended.')
        .waitFor()
      expect(await add.getAttribute('class')).toContain('main')

      await add.click()
      await page.getByText('No worker is left').waitFor({ state: 'detached' })
    })
  })
})

/** Runs of versions that no worker has, as edited code leaves them behind. */
async function forgetVersions(page: Page, count: number): Promise<void> {
  await page.locator('[data-tour=start]:visible').click()
  await page.locator('.chip').first().waitFor()
  await sql(
    page,
    `insert into belay.workflow_definitions overriding system value select older.*
     from (select to_jsonb(d) as own from belay.workflow_definitions d limit 1) d, generate_series(1, ${count}) n,
       jsonb_populate_record(null::belay.workflow_definitions,
         d.own || jsonb_build_object('id', 1000 + n, 'name', 'older-' || n)) older
     returning id`,
  )
  await sql(
    page,
    `insert into belay.workflow_runs select older.*
     from (select to_jsonb(r) as own from belay.workflow_runs r where status = 'running' limit 1) r,
       belay.workflow_definitions d,
       jsonb_populate_record(null::belay.workflow_runs,
         r.own || jsonb_build_object('id', gen_random_uuid(), 'definition_id', d.id, 'key', null)) older
     where d.name like 'older-%' returning id`,
  )
}
