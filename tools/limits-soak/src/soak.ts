import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '@belay/postgres-server'
import { createEngine, type Engine } from '@belay/workflow'
import { migrate, postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { Fleet } from './fleet.ts'
import { fullestWindow, type Peak, peaksOf, type Spread, spreadOf } from './judge.ts'
import { LEDGER_TABLES, readCalls } from './ledger.ts'
import { CUSTOMER_MAX, IMPORTS_MAX, type Input, makeWorkflows, PARTNER_MAX, RATE } from './load.ts'
import type { SoakOptions } from './options.ts'

const LEASE_MS = 3_000
/** Nothing has ended for this long: what is left will not end. */
const STILL_MS = 60_000
/** How late a call may begin that a rate has admitted: what docs/flow-control.md states, a tenth of the period. */
const RATE_TOLERANCE_MS = RATE.perMs / 10
/** How much later the handler's note is in the database, while processes wait for processors. */
const NOTED_WITHIN_MS = 500
const BATCH = 1_000

export interface SoakResult {
  readonly faults: { readonly killed: number; readonly frozen: number }
  readonly seconds: number
  readonly calls: number
  readonly peaks: readonly (Peak & { readonly allowed: number })[]
  readonly window: { readonly fullest: number; readonly allowed: number }
  readonly small: Spread
  readonly large: Spread
  /** What broke, as sentences. */
  readonly violations: readonly string[]
}

/** Runs the load under faults until every run has ended, and judges what the handlers noted. */
export async function soak(options: SoakOptions, tell: (line: string) => void): Promise<SoakResult> {
  const server = await startPostgres({ settings: { max_connections: '200' } })
  const url = await server.createDatabase()
  const database = new pg.Pool({ connectionString: url, max: 4 })
  database.on('error', () => {})
  await migrate(url)
  await database.query(LEDGER_TABLES)
  const workflows = makeWorkflows({ pool: database, worker: 'starter' })
  const engine = createEngine({ adapter: postgres(url), workflows: Object.values(workflows) })
  const fleet = new Fleet({ database, url, leaseMs: LEASE_MS })
  try {
    await fleet.open(options.workers)
    const beganMs = await nowMs(database)
    await startAll(engine, workflows, options)
    tell(`${options.runs} runs started; ${options.workers} workers, faults every ${options.faultEveryMs} ms`)
    const stuck = await runWithFaults({ options, database, fleet, tell })
    const seconds = ((await nowMs(database)) - beganMs) / 1_000
    return { ...(await judge(database, beganMs, stuck)), faults: fleet.counts, seconds }
  } finally {
    await fleet.close()
    await engine.close()
    await database.end()
    await server.stop()
  }
}

async function startAll(
  engine: Engine,
  { orders, reports, imports }: ReturnType<typeof makeWorkflows>,
  { runs, keys, seed }: SoakOptions,
): Promise<void> {
  const random = randomOf(seed)
  for (let first = 0; first < runs; first += BATCH) {
    const inputs = Array.from({ length: Math.min(BATCH, runs - first) }, (_, index): Input => {
      const number = first + index
      const customer = number % 4 === 0 ? 'large' : `small-${(number - Math.ceil(number / 4)) % keys}`
      return { customer, workMs: Math.floor(random() * 8) }
    })
    const of = (share: (index: number) => boolean) =>
      inputs.filter((_, index) => share(index)).map((input) => ({ input }))
    await engine.runMany(
      orders,
      of((index) => index % 10 < 8),
    )
    await engine.runMany(
      reports,
      of((index) => index % 10 === 8),
    )
    await engine.runMany(
      imports,
      of((index) => index % 10 === 9),
    )
  }
}

interface Faulty {
  readonly options: SoakOptions
  readonly database: pg.Pool
  readonly fleet: Fleet
  readonly tell: (line: string) => void
}

/** Until every run has ended. Resolves to a sentence if some do not. */
async function runWithFaults({ options, database, fleet, tell }: Faulty): Promise<string | undefined> {
  const random = randomOf(options.seed + 1)
  const startedAt = performance.now()
  let movedAt = startedAt
  let open = Number.POSITIVE_INFINITY
  let ended = false
  const faults = (async () => {
    while (!ended && performance.now() - startedAt < options.faultsMs) {
      await pause(options.faultEveryMs * 2 * random())
      if (ended) return
      const seat = Math.floor(random() * options.workers)
      if (random() < 0.6) await fleet.kill(seat)
      else await fleet.freeze(seat, LEASE_MS * 2 * random())
    }
  })()
  try {
    for (;;) {
      await pause(1_000)
      const left = await openRuns(database)
      if (left < open) movedAt = performance.now()
      open = left
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      if (seconds % 5 === 0)
        tell(`${seconds} s: ${left} runs open, ${fleet.counts.killed} killed, ${fleet.counts.frozen} frozen`)
      if (left === 0) return undefined
      if (performance.now() - movedAt > STILL_MS)
        return `${left} runs have not ended, and none has for ${STILL_MS / 1_000} s.`
    }
  } finally {
    ended = true
    await faults
  }
}

async function judge(database: pg.Pool, beganMs: number, stuck: string | undefined) {
  const calls = await readCalls(database)
  const of = (limit: string) => calls.filter((call) => call.limit === limit)
  const highest = (limit: string, allowed: number, holder: 'run' | 'call') => ({
    ...peaksOf(of(limit), holder).reduce((most, peak) => (peak.atOnce > most.atOnce ? peak : most)),
    allowed,
  })
  const peaks = [
    highest('customer', CUSTOMER_MAX, 'call'),
    highest('partner', PARTNER_MAX, 'call'),
    highest('import', IMPORTS_MAX, 'run'),
  ]
  const window = {
    fullest: fullestWindow(of('mail'), RATE.perMs),
    allowed: 1 + Math.ceil((RATE.limit * (RATE.perMs + RATE_TOLERANCE_MS + NOTED_WITHIN_MS)) / RATE.perMs),
  }
  const customers = of('customer')
  const small = spreadOf(
    customers.filter(({ key }) => key !== 'large'),
    beganMs,
  )
  const large = spreadOf(
    customers.filter(({ key }) => key === 'large'),
    beganMs,
  )
  const violations = stuck === undefined ? [] : [stuck]
  for (const { limit, key, atOnce, allowed, atMs, spans } of peaks) {
    if (atOnce > allowed)
      violations.push(
        `${atOnce} at once of "${limit}" with the key "${key}", at ${timeOf(atMs)}; allowed are ${allowed}: ${spans
          .map(
            (span) =>
              `run ${span.runId} on ${span.worker} from ${timeOf(span.fromMs)} to ${timeOf(span.toMs)}`,
          )
          .join(', ')}.`,
      )
  }
  if (window.fullest > window.allowed)
    violations.push(`${window.fullest} calls of "mail" began within a second; allowed are ${window.allowed}.`)
  violations.push(...(await leftovers(database)))
  return { calls: calls.length, peaks, window, small, large, violations }
}

/** Slots and places in a line that are left though every run has ended. */
async function leftovers(database: pg.Pool): Promise<readonly string[]> {
  const found: string[] = []
  for (const table of ['workflow_limit_slots', 'workflow_limit_waiters']) {
    const { rows } = await database.query<{ left: number }>(
      `select count(*)::int as left from belay.${table}`,
    )
    if (rows[0]!.left > 0) found.push(`${rows[0]!.left} rows are left in ${table}.`)
  }
  return found
}

async function openRuns(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ open: number }>(
    `select count(*)::int as open from belay.workflow_runs
     where status in ('running', 'paused', 'compensating', 'compensation_failed')`,
  )
  return rows[0]!.open
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

async function nowMs(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ now: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
  )
  return rows[0]!.now
}

/** A generator of numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
