import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { hasPackedChromium, packedChromium } from './packed-chromium.ts'

const given = process.env['BELAY_CHROMIUM'] ?? '/usr/bin/chromium'
const installed = existsSync(given) ? { executablePath: given } : undefined

/** Why tests in a browser cannot run here; undefined if they can. */
export const noBrowser =
  installed === undefined && !hasPackedChromium
    ? 'There is no Chromium: install one, and set BELAY_CHROMIUM to its path.'
    : undefined

/** What the machine has, else what npm has. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ ...(installed ?? (await packedChromium())), args: ['--no-sandbox'] })
}

export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const
export const THEMES = ['light', 'dark'] as const

interface Visit {
  readonly page: Page
  /** What must not happen: errors of the console and of scripts, violations of the policy, requests to other origins. Those that match `expected` may. */
  readonly complaints: (expected?: RegExp) => readonly string[]
}

/** A page of its own at that address, with no storage and a fixed zone. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: SIZES.wide,
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  const heard: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') heard.push(message.text())
  })
  page.on('pageerror', (error) => heard.push(String(error)))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== 'data:' && origin !== new URL(url).origin) heard.push(`Request to ${request.url()}`)
  })
  await page.goto(url)
  return { page, complaints: (expected) => heard.filter((text) => !expected?.test(text)) }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  readonly run: (within: string) => Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }[]
  }>
}

/**
 * What axe finds on the page as it stands, or in a part of it, as text. The debugger's protocol puts axe there, once: the page's policy stays in force.
 */
export async function axeFindings(page: Page, within = 'html'): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: `void (() => { ${axe} })()` })
    await session.detach()
  }
  const { violations } = await page.evaluate(
    (part) => (globalThis as unknown as { axe: Axe }).axe.run(part),
    within,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
}

/** How far the page can be scrolled sideways, in pixels. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}
