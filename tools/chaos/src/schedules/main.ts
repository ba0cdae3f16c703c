import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from '@belay/postgres-server'
import { createEngine, define, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { type Counted, verdictOf } from './verdict.ts'

/**
 * Three worker processes fire one-second schedules while they are killed (SIGKILL) at random moments around each second. At the end every second has
 * exactly one run of each schedule.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '1' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes must be a number greater than 0; got ${values.minutes}.`)

const WORKERS = 3
const SCHEDULES = 10
/** How far from a second a kill happens at most. */
const AROUND_MS = 150
const PROGRESS_MS = 10_000
/** How long the workers may take, once nobody kills them any more, to fire what is left. */
const REST_MS = 60_000
const ticked = define('ticked', { version: 1 }).step('note', { run: () => null })

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const random = (below: number): number => Math.floor(Math.random() * below)

const server = await startPostgres()
const url = await server.createDatabase()
const store = postgres(url, { autoMigrate: true })
const engine = createEngine({ adapter: store, workflows: [ticked] })
const pool = new pg.Pool({ connectionString: url, max: 2 })
// The server ends connections that the pool is still closing.
pool.on('error', () => {})
const workers: (ChildProcess | undefined)[] = []
let kills = 0
try {
  const from = await putSchedules(engine)
  for (let slot = 0; slot < WORKERS; slot += 1) startWorker(slot)
  await killForAWhile(Date.now() + minutes * 60_000)
  const to = await comeToRest()
  const verdict = verdictOf({ ...(await counted()), from, to, schedules: SCHEDULES })
  console.log(`${verdict.text} ${kills} kills.`)
  process.exitCode = verdict.isGood ? 0 : 1
} finally {
  for (const worker of workers) worker?.kill('SIGKILL')
  await engine.close()
  await pool.end()
  await server.stop()
}

/** Returns the first second that every schedule fires. */
async function putSchedules({ schedules }: Engine): Promise<number> {
  let from = 0
  for (let number = 0; number < SCHEDULES; number += 1) {
    const timing = { cron: '* * * * * *', overlap: 'allow', catchUp: 'all' } as const
    const { nextAt } = await schedules.put(`tick ${number}`, { ...timing, workflow: ticked })
    from = Math.max(from, nextAt!.getTime())
  }
  return from
}

function startWorker(slot: number): void {
  const file = fileURLToPath(new URL('worker.js', import.meta.url))
  workers[slot] = fork(file, {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

async function killForAWhile(until: number): Promise<void> {
  let toldAt = Date.now()
  while (Date.now() < until) {
    const toSecondMs = 1_000 - (Date.now() % 1_000)
    await pause(Math.max(0, toSecondMs - AROUND_MS) + random(2 * AROUND_MS))
    const slot = random(WORKERS)
    workers[slot]?.kill('SIGKILL')
    kills += 1
    // Sometimes nobody is there for a while.
    setTimeout(() => startWorker(slot), random(4) === 0 ? 3_000 : random(500))
    if (Date.now() - toldAt < PROGRESS_MS) continue
    toldAt = Date.now()
    const { runs } = await counted()
    console.log(`${runs.length} runs, ${kills} kills, ${Math.round((until - toldAt) / 1_000)} s left`)
  }
  await pause(4_000)
}

/** Pauses all schedules once they are up to date. Returns the last second that every schedule has fired. */
async function comeToRest(): Promise<number> {
  const givenUpAt = Date.now() + REST_MS
  for (;;) {
    const { rows } = await pool.query<{ behind: boolean }>(
      `select bool_or(due_at < now() - interval '2 seconds') as behind from belay.workflow_schedules`,
    )
    if (!rows[0]!.behind || Date.now() > givenUpAt) break
    await pause(200)
  }
  let to = Number.POSITIVE_INFINITY
  for (const { name } of await engine.schedules.list()) {
    await engine.schedules.pause(name)
    const [newest] = await engine.schedules.history(name, { limit: 1 })
    to = Math.min(to, newest?.scheduledAt.getTime() ?? 0)
  }
  return to
}

async function counted(): Promise<Counted> {
  const runs = await pool.query<{ key: string }>(
    `select key from belay.workflow_runs where workflow = 'ticked'`,
  )
  const firings = await pool.query<{ key: string; status: string }>(
    `select 'schedule:' || schedule || ':' || to_char(scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as key, status
     from belay.workflow_firings`,
  )
  return { runs: runs.rows.map(({ key }) => key), firings: firings.rows }
}
