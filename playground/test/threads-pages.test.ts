import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser, Page, Worker } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { noBrowser, startBrowser, visit } from '../../packages/dashboard/test/setup/browser.ts'
import { serviceWorker } from '../scripts/service-worker.mjs'
import { opened, plays, said, sql } from './setup/opened.ts'

/** A page that a service worker serves is not to be given other scripts. */
const BLOCKED = /Service Worker registration blocked by Playwright/

describe.skipIf(noBrowser)(`pages${noBrowser ? `: ${noBrowser}` : ''}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  it('where the browser refuses to store, the database is in memory, and the page says so', async () => {
    const { page, complaints } = await visit(browser, inject('playground'), { serviceWorkers: 'block' })
    await page.route('**/database.js', async (route) => {
      const response = await route.fetch()
      const refusing = `IDBFactory.prototype.open = () => { throw new DOMException('No storage here.', 'SecurityError') };`
      await route.fulfill({ response, body: `${refusing}${await response.text()}` })
    })
    await page.reload()
    await plays(page)
    await said(page, /is in memory only: it ends with this page/)

    await page.getByRole('button', { name: 'Start a run' }).click()
    await said(page, /ends the run .*: completed/)
    await page.reload()
    await plays(page)
    expect(await runs(page)).toBe(0)
    expect(complaints(BLOCKED)).toEqual([])
  })

  it('"Start afresh" throws the stored database away, once', async () => {
    const { page, complaints } = await opened(browser)
    await page.getByRole('button', { name: 'Start a run' }).click()
    await expect.poll(() => runs(page)).toBe(1)

    await Promise.all([
      page.waitForEvent('framenavigated'),
      page.getByRole('button', { name: 'Start afresh' }).click(),
    ])
    await plays(page)
    expect(await runs(page)).toBe(0)
    expect(page.url()).toBe(inject('playground'))

    await page.getByRole('button', { name: 'Start a run' }).click()
    await expect.poll(() => runs(page)).toBe(1)
    await page.reload()
    await plays(page)
    expect(await runs(page)).toBe(1)
    expect(complaints()).toEqual([])
  })

  it('a browser that lacks something is told what, and loads no database', async () => {
    const { page, complaints } = await visit(browser, inject('playground'), { serviceWorkers: 'block' })
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'DecompressionStream')
      Reflect.deleteProperty(Navigator.prototype, 'locks')
    })
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
    await page.reload()

    const sentence =
      'The playground needs Web Locks, decompression streams, and this browser does not offer that here: open it in a current Chrome, Firefox or Safari.'
    await page.getByRole('alert').filter({ hasText: sentence }).waitFor()
    expect(await page.getByRole('button', { name: 'Start a run' }).isDisabled()).toBe(true)
    expect(loaded).toContain('/page.js')
    expect(loaded).not.toContain('/pglite.wasm')
    expect(complaints(BLOCKED)).toEqual([])
  })

  it('a new build keeps its own files once the pages of the old one are closed, and the old ones go', async () => {
    const site = await servedInBuilds()
    try {
      const { page } = await visit(browser, site.url)
      await plays(page)
      await page.evaluate(async () => void (await navigator.serviceWorker.ready))
      const [first, ...others] = await caches(page)
      expect(others).toEqual([])

      site.build()
      await page.reload()
      await plays(page)
      await expect.poll(() => caches(page)).toHaveLength(2)
      const context = page.context()
      await page.close()
      // Asked in the new worker: a page that opens before it is active would still be one of the old.
      await expect.poll(() => caches(context.serviceWorkers().at(-1)!)).toHaveLength(1)
      expect(await caches(context.serviceWorkers().at(-1)!)).not.toContain(first)
    } finally {
      site.close()
    }
  })
})

async function runs(page: Page): Promise<number> {
  return Number((await sql(page, 'select count(*) from belay.workflow_runs'))[0]?.[0])
}

function caches(of: Pick<Worker, 'evaluate'>): Promise<string[]> {
  return of.evaluate(() => globalThis.caches.keys())
}

/** The playground, whose service worker is another one after each `build()`. */
async function servedInBuilds() {
  const dist = fileURLToPath(new URL('../dist', import.meta.url))
  const files = ['index.html', 'page.css', 'page.js']
  const server = createServer(async ({ url }, response) => {
    const of = await fetch(new URL(url ?? '/', inject('playground')))
    const { 'content-length': _, ...headers } = Object.fromEntries(of.headers)
    response.writeHead(of.status, headers)
    response.end(url === '/sw.js' ? serviceWorker(dist, files) : Buffer.from(await of.arrayBuffer()))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    build: () => files.pop(),
    close: () => server.close(),
  }
}
