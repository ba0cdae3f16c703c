import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { define } from '@belay/workflow'
import { expect, it, onTestFinished } from 'vitest'
import { VERBS } from '../src/table/index.ts'
import { belay } from './setup/belay.ts'
import { configFolder } from './setup/config.ts'
import { bank, shop } from './setup/shop.ts'

/** Of those that do not end with 0: a run that did not complete, a finding, a run that does not fit the other version, and what is not there. */
const STATUS: Readonly<Record<string, number>> = {
  'watch order:9184': 1,
  'watch order:9184 --plain': 1,
  doctor: 1,
  'doctor --json': 1,
  'move order:9182 --to 4 --dry-run': 1,
  "undo give-up order:9190 packItem --reason 'its host is gone'": 1,
}

const ENDLESS: ReadonlySet<string> = new Set(['watch', 'mcp', 'dashboard'])

/** What the examples of operators are about, besides the shop. */
async function surroundings() {
  const opened = await shop()
  const { engine } = opened
  const report = define('nightly-report', { version: 1 })
    .step('pay', { run: () => 1, concurrency: { limit: 5, name: 'payments' } })
    .step('call', { run: () => 1, rateLimit: { limit: 50, per: '1s', name: 'partner' } })
  const worker = engine({ workflows: [report] })
  await worker.schedules.put('nightly-report', { workflow: report, cron: '0 3 * * *', input: null })
  await worker.start()
  const cwd = await configFolder(`[fulfil(4)]`)
  return { ...opened, cwd }
}

it('every example of a help runs as it stands', async () => {
  const looks = await surroundings()
  const told: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  for (const { name, access, examples } of VERBS) {
    // What acts has a shop of its own, in which nobody acted before.
    const { env, cwd } = access === 'write' ? await surroundings() : looks
    if (name.startsWith('undo')) bank.refunds = 'open'
    for (const { command } of examples) {
      if (name === 'resume') await belay(['pause', 'order:9182'], { env })
      // What never ends by itself is left.
      const signal = AbortSignal.timeout(ENDLESS.has(name) ? 3_000 : 60_000)
      const { status, stderr } = await belay(words(command), {
        env,
        cwd: name === 'init' ? await emptyFolder() : cwd,
        signal,
      })
      wanted[command] = STATUS[command] ?? 0
      told[command] = status === wanted[command] ? status : `${status}: ${stderr}`
    }
  }
  expect(told).toEqual(wanted)
})

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-init-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** As a shell splits them. */
function words(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
}
