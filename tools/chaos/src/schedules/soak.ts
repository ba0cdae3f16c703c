import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@belay/postgres-server'
import { createEngine, define, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { type Counted, verdictOf } from './verdict.ts'

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

/**
 * Three worker processes fire one-second schedules while they are killed (SIGKILL) at random moments around each second. At the end every second has
 * exactly one run of each schedule.
 */
export async function soakSchedules(
  minutes: number,
  tell: (line: string) => void,
): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const engine = createEngine({ adapter: postgres(url, { autoMigrate: true }), workflows: [ticked] })
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  // The server ends connections that the pool is still closing.
  pool.on('error', () => {})
  const workers = new Workers(url)
  try {
    const from = await putSchedules(engine)
    workers.open()
    await killForAWhile({ workers, pool, until: Date.now() + minutes * 60_000, tell })
    const to = await comeToRest(engine, pool)
    const { text, isGood } = verdictOf({ ...(await counted(pool)), from, to, schedules: SCHEDULES })
    return { isGood, text: `${text} ${workers.kills} kills.` }
  } finally {
    workers.close()
    await engine.close()
    await pool.end()
    await server.stop()
  }
}

/** Worker processes, one for each slot. Whoever is killed is replaced, sometimes after a while in which nobody is there. */
class Workers {
  kills = 0
  readonly #url: string
  readonly #children: (ChildProcess | undefined)[] = []
  readonly #waiting = new Set<NodeJS.Timeout>()

  constructor(url: string) {
    this.#url = url
  }

  open(): void {
    for (let slot = 0; slot < WORKERS; slot += 1) this.#start(slot)
  }

  killOne(): void {
    const slot = random(WORKERS)
    this.#children[slot]?.kill('SIGKILL')
    this.kills += 1
    const timer = setTimeout(
      () => {
        this.#waiting.delete(timer)
        this.#start(slot)
      },
      random(4) === 0 ? 3_000 : random(500),
    )
    this.#waiting.add(timer)
  }

  close(): void {
    for (const timer of this.#waiting) clearTimeout(timer)
    for (const child of this.#children) child?.kill('SIGKILL')
  }

  #start(slot: number): void {
    // A slot may have been killed again before its replacement came.
    this.#children[slot]?.kill('SIGKILL')
    const file = fileURLToPath(new URL('worker.js', import.meta.url))
    this.#children[slot] = fork(file, {
      env: { ...process.env, DATABASE_URL: this.#url },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }
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

async function killForAWhile({
  workers,
  pool,
  until,
  tell,
}: {
  readonly workers: Workers
  readonly pool: pg.Pool
  readonly until: number
  readonly tell: (line: string) => void
}): Promise<void> {
  let toldAt = Date.now()
  while (Date.now() < until) {
    const toSecondMs = 1_000 - (Date.now() % 1_000)
    await pause(Math.max(0, toSecondMs - AROUND_MS) + random(2 * AROUND_MS))
    workers.killOne()
    if (Date.now() - toldAt < PROGRESS_MS) continue
    toldAt = Date.now()
    const { runs } = await counted(pool)
    tell(`${runs.length} runs, ${workers.kills} kills, ${Math.round((until - toldAt) / 1_000)} s left`)
  }
  await pause(4_000)
}

/** Pauses all schedules once they are up to date. Returns the last second that every schedule has fired. */
async function comeToRest(engine: Engine, pool: pg.Pool): Promise<number> {
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

async function counted(pool: pg.Pool): Promise<Counted> {
  const runs = await pool.query<{ key: string }>(
    `select key from belay.workflow_runs where workflow = 'ticked'`,
  )
  const firings = await pool.query<{ key: string; status: string }>(
    `select 'schedule:' || schedule || ':' || to_char(scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as key, status
     from belay.workflow_firings`,
  )
  return { runs: runs.rows.map(({ key }) => key), firings: firings.rows }
}
