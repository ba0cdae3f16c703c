import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Engine } from '@belay/workflow'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { type Authorized, type DashboardOptions, toNodeHandler } from '../../src/index.ts'
import { noBrowser, startBrowser, THEMES, visit } from './browser.ts'
import { opened } from './calls.ts'

let browser: Browser
const stops: (() => void)[] = []

/** Tests in one browser. Without one they are skipped, and their name says why. */
export function onScreen(name: string, tests: () => void): void {
  describe.skipIf(noBrowser)(name + (noBrowser ? `: ${noBrowser}` : ''), () => {
    beforeAll(async () => {
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser.close()
      for (const stop of stops) stop()
    })
    tests()
  })
}

/** The address, with a slash at its end, of the dashboard of an engine, for a viewer who may do that. It is served as long as the browser runs. */
export async function startPages(
  engine: Engine,
  can: Authorized['can'] = 'all',
  more: Partial<DashboardOptions> = {},
): Promise<string> {
  const server = createServer(toNodeHandler(opened({ engine, basePath: '/ops/belay', ...more }, can)))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/belay/`
}

/** A page of its own, closed with its test, once `there` is to be seen. */
export async function pageAt(
  url: string,
  options: BrowserContextOptions = {},
  there?: (page: Page) => Locator,
): ReturnType<typeof visit> {
  const visited = await visit(browser, url, options)
  onTestFinished(() => visited.page.context().close())
  await there?.(visited.page).first().waitFor()
  return visited
}

export const MAIN = (page: Page) => page.getByRole('main')

/** Each theme, wide and narrow. */
export const LOOKS = THEMES.flatMap((theme) =>
  (['wide', 'narrow'] as const).map((size) => [theme, size] as const),
)

export function shown(page: Page, text: string | RegExp): Promise<void> {
  return page.getByText(text).first().waitFor()
}

/** Below the dashboard's. */
export function pathOf(page: Page): string {
  return new URL(page.url()).pathname.replace('/ops/belay/', '')
}

/** Holds each dry run of this page back until the returned function lets them go. */
export async function holdDryRuns(page: Page): Promise<() => void> {
  let letGo = () => {}
  const free = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route('**/actions', async (route) => {
    if (route.request().postDataJSON().dryRun) await free
    await route.continue()
  })
  return () => letGo()
}
