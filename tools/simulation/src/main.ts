import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { simulate } from '@belay/testing/simulation'
import { openStores } from './open-stores.ts'
import { STORE_NAMES, type StoreName, type Stores } from './stores.ts'

const HELP = `Runs the engine in simulated worlds of crashes, freezes, lost answers, delays and operators, and checks the guarantees.

  npm run sim -- --seed 42             one world, again, exactly
  npm run sim -- --seed 42 --trace     … with everything that happened in it
  npm run sim -- --seeds 10000         that many worlds, from seed 1
  npm run sim -- --seeds 500 --from 1  … from that seed
  npm run sim -- --store postgres      the same worlds on PostgreSQL, or on pglite; memory unless given

PostgreSQL is a throw-away server, or the one that DATABASE_URL names, in a database of its own.
Exits with 1 when a guarantee was broken, but for the worlds of tools/simulation/known-worlds.json; prints the command that replays the world.`

/** Worlds that break in memory for a reason that has a name, and is to go with the part of the engine that causes it. */
const KNOWN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('../known-worlds.json', import.meta.url), 'utf8'),
)

const FAILURES_SHOWN_MAX = 5
const TELL_EVERY_MS = 10_000

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    store: { type: 'string', default: 'memory' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (flags.help) console.log(HELP)
else await run(await openStores(storeName(flags.store)))

async function run(stores: Stores): Promise<void> {
  try {
    if (flags.seed !== undefined) await replay(stores, number('seed', flags.seed), flags.trace)
    else await sweep(stores, number('from', flags.from), number('seeds', flags.seeds ?? '200'))
  } finally {
    await stores.close()
  }
}

async function replay({ open }: Stores, seed: number, trace: boolean): Promise<void> {
  const told = trace ? { trace: (line: string) => console.log(line) } : {}
  const report = await simulate({ seed, store: open, ...told })
  console.log(JSON.stringify(report, null, 2))
  if (report.violations.length > 0) process.exitCode = 1
}

async function sweep({ name, open }: Stores, from: number, count: number): Promise<void> {
  const totals: Record<string, number> = {}
  const told = progress(count)
  let failures = 0
  let seed = from
  for (; seed < from + count && failures < FAILURES_SHOWN_MAX; seed += 1) {
    const report = await simulate({ seed, store: open })
    for (const [status, runs] of Object.entries(report.runs)) totals[status] = (totals[status] ?? 0) + runs
    totals['crashes'] = (totals['crashes'] ?? 0) + report.crashes
    totals['freezes'] = (totals['freezes'] ?? 0) + report.freezes
    const isBroken = report.violations.length > 0
    const why = name === 'memory' ? KNOWN[seed] : undefined
    if (why !== undefined) {
      // One that holds again leaves the list, or nobody would notice when it breaks anew.
      if (!isBroken) failures += 1
      console.log(
        isBroken
          ? `seed ${seed} broke, as is known: ${why}`
          : `seed ${seed} holds now: take it out of known-worlds.json`,
      )
    } else if (isBroken) {
      failures += 1
      const store = name === 'memory' ? '' : ` --store ${name}`
      console.log(
        `seed ${seed} broke:\n  ${report.violations.join('\n  ')}\n  replay: npm run sim --${store} --seed ${seed} --trace`,
      )
    }
    told.done(seed - from + 1)
  }
  console.log(
    `${seed - from} worlds on ${name} from seed ${from} in ${told.seconds()} s: ${JSON.stringify(totals)}; ${failures} broken`,
  )
  if (failures > 0) process.exitCode = 1
}

/** Shows progress: continuously at a terminal, else every ten seconds. */
function progress(count: number) {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1_000
  let toldAt = startedAt
  return {
    seconds: () => seconds().toFixed(1),
    done(done: number): void {
      const line = `${done} of ${count} worlds, ${(done / seconds()).toFixed(1)}/s`
      if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === count ? '\n' : ''}`)
      else if (performance.now() - toldAt > TELL_EVERY_MS) {
        toldAt = performance.now()
        console.log(line)
      }
    },
  }
}

function storeName(text: string): StoreName {
  const found = STORE_NAMES.find((name) => name === text)
  if (found !== undefined) return found
  console.error(`--store must be one of ${STORE_NAMES.join(', ')}; got "${text}".\n\n${HELP}`)
  process.exit(2)
}

function number(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0) return value
  console.error(`--${flag} must be a whole number of 0 or more; got "${text}".\n\n${HELP}`)
  process.exit(2)
}
