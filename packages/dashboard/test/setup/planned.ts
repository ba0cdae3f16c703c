import { randomUUID } from 'node:crypto'
import { define, type Engine } from '@belay/workflow'
import pg from 'pg'
import { type TestStore, testStore } from './store.ts'

export const report = define('report', { version: 2 }).step('make', { run: () => 1 })
export const HOSTILE = '<img src=x onerror=alert(1)>/50%2F?&'

const HOUR_MS = 3_600_000

export interface Planned extends TestStore {
  /** No worker. */
  readonly caller: Engine
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<void>
  /** Writes firings into the history of a schedule, the oldest first. */
  readonly fired: (schedule: string, firings: readonly Fired[]) => Promise<void>
}

interface Fired {
  readonly hoursAgo: number
  readonly untilHoursAgo?: number
  readonly status: 'started' | 'queued' | 'skipped' | 'missed' | 'failed'
  readonly runId?: string
  readonly reason?: string
}

/** A store with schedules of each kind, and no worker: none of them fires by itself. */
export async function planned({ isShared = false } = {}): Promise<Planned> {
  const store = await testStore({ isShared })
  await declare(store)
  const caller = store.engine({ workflows: [report] })
  const zurich = { timeZone: 'Europe/Zurich', workflow: report }
  await caller.schedules.putMany([
    { name: 'each-minute', cron: '* * * * *', workflow: report },
    { name: 'hourly-sync', every: '1h', workflow: report, overlap: 'queue' },
    { name: 'holiday-mail', cron: '30 9 * * *', ...zurich },
    { name: 'late-prices', cron: '*/15 * * * *', ...zurich },
    { name: HOSTILE, cron: '15 6 * * *', timeZone: 'Asia/Kathmandu', workflow: report, jitter: '10m' },
  ])
  await caller.schedules.pause('holiday-mail', { reason: '<b>on holiday</b>' })
  const sql: Planned['sql'] = (text, values = []) => write(store, text, values)
  // A quarter of an hour that has passed, on the clock's quarter.
  const late = new Date(Math.floor(Date.now() / 900_000) * 900_000 - 900_000)
  await sql('update schema.workflow_schedules set next_at = $1, due_at = $1 where name = $2', [
    late,
    'late-prices',
  ])
  const fired: Planned['fired'] = async (schedule, firings) => {
    for (const [index, one] of firings.entries()) await sql(...insertion(schedule, index + 1, one))
    await sql('update schema.workflow_schedules set firings = $1, updated_at = now() where name = $2', [
      firings.length,
      schedule,
    ])
  }
  return { ...store, caller, sql, fired }
}

/** What is declared in code is stored when that code starts. */
async function declare(store: TestStore): Promise<void> {
  const nightly = { name: 'nightly-report', cron: '0 3 * * *', timeZone: 'Europe/Zurich', workflow: report }
  const engine = store.engine({ workflows: [report], schedules: [nightly] })
  await engine.start()
  await engine.close()
}

async function write({ url, schema }: TestStore, text: string, values: readonly unknown[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(text.replaceAll('schema.', `"${schema}".`), [...values])
  } finally {
    await client.end()
  }
}

function insertion(
  schedule: string,
  sequence: number,
  { hoursAgo, untilHoursAgo, status, runId, reason }: Fired,
): [string, readonly unknown[]] {
  const at = (hours: number) => new Date(Date.now() - hours * HOUR_MS)
  return [
    `insert into schema.workflow_firings
       (schedule, sequence, scheduled_at, until_at, decided_at, cause, status, run_id, is_open, reason)
     values ($1, $2, $3, $4, $3, 'time', $5, $6, $7, $8)`,
    [
      ...[schedule, sequence, at(hoursAgo), untilHoursAgo === undefined ? null : at(untilHoursAgo)],
      ...[status, runId ?? null, status === 'queued', reason ?? null],
    ],
  ]
}

/** Registers a worker that is not there, with handlers for reports: its lease ends that many seconds from now. */
export async function registered(
  { sql }: Pick<Planned, 'sql'>,
  {
    name,
    status = 'live',
    leaseS,
    slots = 20,
    busy = 0,
  }: {
    readonly name: string
    readonly status?: 'live' | 'dead'
    readonly leaseS: number
    readonly slots?: number
    readonly busy?: number
  },
): Promise<string> {
  const id = randomUUID()
  await sql(
    `insert into schema.workflow_workers (id, name, host, status, started_at, renewed_at, lease_expires_at, slots, busy, definition_ids)
     values ($1, $2, 'shop-7f9c', $3, now() - interval '2 hours', now() - interval '5 seconds',
       now() + make_interval(secs => $4), $5, $6,
       (select array_agg(id) from schema.workflow_definitions where name = 'report'))`,
    [id, name, status, leaseS, slots, busy],
  )
  return id
}
