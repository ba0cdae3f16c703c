import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { dashboard, toNodeHandler } from '@belay/dashboard'
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { chromium } from 'playwright-core'
import type { Bench } from '../bench.ts'
import { withClient } from '../database.ts'
import { quantile } from '../report/figures.ts'
import { insertWaiting } from './flat/waiting.ts'
import type { Recorder } from './section.ts'

/** How often each route, and each screen, is asked for. */
const TIMES = { routes: 40, screens: 10 }
const QUICK = { routes: 4, screens: 3 }
/** What viewers of one second share must be read anew each time. */
const SHARED_MS = 1_050

const CHROMIUM = process.env['BELAY_CHROMIUM'] ?? '/usr/bin/chromium'

type Ask = (path: string) => Promise<void>

/** The routes of the dashboard, asked in turns as a page asks them, each time with queries of their own; then the first screen in a browser. */
export async function measurePages(
  url: string,
  { bench, record }: { readonly bench: Bench; readonly record: Recorder },
): Promise<void> {
  const times = bench.quick ? QUICK : TIMES
  await insertWaiting(url, bench.quick ? 1_000 : 100_000)
  await withClient(url, (client) => client.query('analyze belay.workflow_runs, belay.workflow_steps'))
  await withDashboard(url, async (address) => {
    const routes = await routesOf(url, bench.historyRuns, times.routes)
    const answers = new Map(routes.map(({ name }) => [name, [] as number[]]))
    for (let n = 0; n <= times.routes; n += 1) {
      for (const { name, path } of routes) {
        const since = performance.now()
        await askedOf(address)(path(n))
        // The first cycle fills the caches of the server and of the machine.
        if (n > 0) answers.get(name)!.push(performance.now() - since)
      }
      await delay(SHARED_MS)
    }
    for (const [name, values] of answers) {
      record.add(`the dashboard: ${name}, ${times.routes} times`, {
        unit: 'ms, median',
        value: quantile(values, 0.5),
      })
      record.add(`the dashboard: ${name}, ${times.routes} times`, {
        unit: 'ms, p95',
        value: quantile(values, 0.95),
      })
    }
    bench.progress('surfaces: the dashboard’s routes')
    await record.attempt('first screens', () => measureScreens(address, { times: times.screens, record }))
  })
}

function askedOf(address: string): Ask {
  return async (path) => {
    const response = await fetch(`${address}api/${path}`)
    const text = await response.text()
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${text}`)
  }
}

async function withDashboard(url: string, work: (address: string) => Promise<void>): Promise<void> {
  const engine = createEngine({ adapter: postgres(url, { connectionsMax: 5, listen: false }) })
  const server = createServer(
    toNodeHandler(dashboard({ engine, authorize: () => ({ by: 'bench', can: 'all' }) })),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    await engine.close()
  }
}

/** Each with another run in each turn: a reading that was just made would be in the caches. */
async function routesOf(url: string, historyRuns: number, times: number) {
  const numbers = Array.from({ length: times + 1 }, () => 1 + Math.floor(Math.random() * historyRuns))
  const known = await withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string; key: string; workflow: string }>(
      `select r.id, r.key, r.workflow from belay.workflow_definitions d
       cross join unnest($1::bigint[]) n
       join belay.workflow_runs r on r.workflow = d.name and r.key = 'order:' || n`,
      [numbers],
    )
    return rows
  })
  const of = (n: number) => known[n % known.length]!
  return [
    { name: 'the navigation’s counts', path: () => 'overview' },
    { name: 'newest runs', path: () => 'runs' },
    { name: 'failed runs', path: () => 'runs?status=failed' },
    { name: 'live runs', path: () => 'runs?status=running' },
    {
      name: 'runs by workflow and status',
      path: (n: number) => `runs?workflow=${of(n).workflow}&status=failed`,
    },
    { name: 'runs by key', path: (n: number) => `runs?key=${of(n).key}` },
    { name: 'runs of the last 7 days', path: () => 'runs?since=7d' },
    { name: 'a page before a run', path: (n: number) => `runs?before=${of(n).id}` },
    { name: 'a page after a run', path: (n: number) => `runs?after=${of(n).id}` },
    { name: 'counts of all runs', path: () => 'runs/counts' },
    { name: 'counts of a workflow', path: (n: number) => `runs/counts?workflow=${of(n).workflow}` },
    { name: 'counts of the last 7 days', path: () => 'runs/counts?since=7d' },
    { name: 'a run by its id', path: (n: number) => `runs/${of(n).id}` },
    { name: 'a run by its key', path: (n: number) => `runs/${of(n).key}` },
    { name: 'a run’s payloads', path: (n: number) => `runs/${of(n).id}/payloads` },
    { name: 'health', path: () => 'health' },
  ] as const satisfies readonly { readonly name: string; readonly path: (n: number) => string }[]
}

/** From the navigation to the first row of runs, in a browser that knows nothing of the page. */
async function measureScreens(
  address: string,
  { times, record }: { readonly times: number; readonly record: Recorder },
): Promise<void> {
  if (!existsSync(CHROMIUM)) {
    record.note('There is no Chromium here, so the dashboard’s first screen was not measured.')
    return
  }
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    for (let n = 0; n < times; n += 1) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
      const page = await context.newPage()
      const since = performance.now()
      await page.goto(address)
      await page.locator('a[data-run]').first().waitFor()
      const value = performance.now() - since
      if (n > 0) record.add(`the dashboard: first screen, ${times - 1} times`, { unit: 'ms', value })
      await context.close()
    }
  } finally {
    await browser.close()
  }
}
