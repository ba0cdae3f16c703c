import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import { withClient } from '../database.ts'
import { measureDashboards } from './flat/dashboards.ts'
import { checkSpace, historyBytes } from './flat/disk.ts'
import { loadHistory } from './flat/history.ts'
import { measurePages } from './pages.ts'
import type { Recorder, Section } from './section.ts'
import { measureViewers } from './viewers.ts'

const TIMES = 15

export const surfacesSection: Section = {
  name: 'surfaces',
  about:
    'with 10 million finished and 100,000 live runs: what dashboards ask, how long ours and its first screen take, and commands of `belay` from a shell; what five viewers cost a worker',
  async measure(bench, record) {
    await bench.server.freshDatabase(async (url) => {
      const isLoaded = await record.attempt('the history', async () => {
        await checkSpace(bench, 'The history', historyBytes(bench))
        await loadHistory(url, bench)
      })
      if (!isLoaded) return
      await record.attempt('dashboards', () => measureDashboards(url, { bench, record }))
      await record.attempt('the dashboard', () => measurePages(url, { bench, record }))
      await record.attempt('commands', () => measureCommands(url, { bench, record }))
    })
    await record.attempt('viewers', () => measureViewers(bench, record))
  },
}

/** From the start of the process to its end, after one call that warms the caches of the machine and the server. */
async function measureCommands(
  url: string,
  { bench, record }: { readonly bench: Bench; readonly record: Recorder },
): Promise<void> {
  const [id, times] = [await anyRun(url), bench.quick ? 2 : TIMES]
  for (const argv of [
    ['--help'],
    [],
    ['list'],
    ['list', '--status', 'failed'],
    ['show', id],
    ['show', 'order:77'],
    ['explain', id],
    ['doctor'],
  ]) {
    await timed(url, argv)
    for (let n = 0; n < times; n += 1) {
      record.add(`belay ${argv.join(' ').replace(id, '<id>')}, ${times} times`.replace('belay ,', 'belay,'), {
        unit: 'ms',
        value: await timed(url, argv),
      })
    }
    bench.progress(`surfaces: belay ${argv.join(' ')}`)
  }
}

async function anyRun(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'select id from belay.workflow_runs order by id desc limit 1',
    )
    return rows[0]!.id
  })
}

async function timed(url: string, argv: readonly string[]): Promise<number> {
  const program = join(
    dirname(fileURLToPath(import.meta.resolve('@belay/cli/package.json'))),
    'bundle/bin.js',
  )
  const since = performance.now()
  const child = spawn(process.execPath, [program, ...argv], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaint += bytes.toString()
  })
  const [status] = (await once(child, 'close')) as [number | null]
  if (status === 0 || argv[0] === 'doctor') return performance.now() - since
  throw new Error(`belay ${argv.join(' ')} ended with ${status}: ${complaint}`)
}
