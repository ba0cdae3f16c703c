import { parseArgs } from 'node:util'
import { simulate } from './world.ts'

const HELP = `Runs the engine in simulated worlds of crashes, freezes, lost answers and delays, and checks the guarantees.

  npm run sim -- --seed 42             one world, again, exactly
  npm run sim -- --seed 42 --trace     … with everything that happened in it
  npm run sim -- --seeds 10000         that many worlds, from seed 1
  npm run sim -- --seeds 500 --from 1  … from that seed

Exits with 1 when a guarantee was broken; prints the command that replays the world.`

const FAILURES_SHOWN_MAX = 5

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (flags.help) console.log(HELP)
else if (flags.seed !== undefined) await replay(number('seed', flags.seed), flags.trace)
else await sweep(number('from', flags.from), number('seeds', flags.seeds ?? '200'))

async function replay(seed: number, trace: boolean): Promise<void> {
  const report = await simulate({ seed, ...(trace ? { trace: (line: string) => console.log(line) } : {}) })
  console.log(JSON.stringify(report, null, 2))
  if (report.violations.length > 0) process.exitCode = 1
}

async function sweep(from: number, count: number): Promise<void> {
  const totals: Record<string, number> = {}
  const startedAt = performance.now()
  let failures = 0
  for (let seed = from; seed < from + count && failures < FAILURES_SHOWN_MAX; seed += 1) {
    const report = await simulate({ seed })
    for (const [status, runs] of Object.entries(report.runs)) totals[status] = (totals[status] ?? 0) + runs
    totals['crashes'] = (totals['crashes'] ?? 0) + report.crashes
    totals['freezes'] = (totals['freezes'] ?? 0) + report.freezes
    if (report.violations.length > 0) {
      failures += 1
      console.log(
        `seed ${seed} broke:\n  ${report.violations.join('\n  ')}\n  replay: npm run sim -- --seed ${seed} --trace`,
      )
    }
    progress(seed - from + 1, count, startedAt)
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(
    `${count} worlds from seed ${from} in ${seconds} s: ${JSON.stringify(totals)}; ${failures} broken`,
  )
  if (failures > 0) process.exitCode = 1
}

function progress(done: number, count: number, startedAt: number): void {
  if (!process.stdout.isTTY && done % 1_000 !== 0) return
  const rate = Math.round(done / ((performance.now() - startedAt) / 1_000))
  const line = `${done} of ${count} worlds, ${rate}/s`
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === count ? '\n' : ''}`)
  else console.log(line)
}

function number(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  console.error(`--${flag} must be a whole number of 0 or more; got "${text}".\n\n${HELP}`)
  process.exit(2)
}
