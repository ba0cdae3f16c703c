import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createEngine, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Repair } from '../src/api/many.ts'
import type { Problem } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { type Jobs, jobs, mail } from './setup/jobs.ts'
import type { TestStore } from './setup/store.ts'

const DASHBOARD = fileURLToPath(new URL('processes/dashboard.mjs', import.meta.url))

/** An engine whose statements end after two seconds, and whose sessions bear that name. */
function impatient({ url, schema }: TestStore, name: string): Engine {
  const named = new URL(url)
  named.searchParams.set('application_name', name)
  const adapter = postgres(named.href, { schema, autoMigrate: false, queryTimeoutMs: 2_000 })
  const engine = createEngine({ adapter, logger: false })
  onTestFinished(() => engine.close())
  return engine
}

/** The session of somebody else. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Read until it has that state. */
function ended(handler: DashboardHandler, id: string, state: Repair['state']): Promise<Repair> {
  return vi.waitFor(async () => {
    const repair = await read<Repair>(handler, `repairs/${id}`)
    expect(repair.state).toBe(state)
    return repair
  }, 60_000)
}

async function counted(handler: DashboardHandler): Promise<Repair> {
  const asked = await post(handler, 'repairs', { verb: 'retry', query: 'workflow=job&status=failed' })
  return ended(handler, ((await asked.json()) as Repair).id, 'counted')
}

const begin = (handler: DashboardHandler, { id }: Repair) =>
  post(handler, `repairs/${id}/actions`, { action: 'begin', reason: 'the mail server is back' })

/** How many runs somebody retried, and how often. */
async function retries({ url, schema }: TestStore) {
  const { rows } = await (await session(url)).query(
    `select count(distinct run_id)::int as runs, count(*)::int as entries
     from ${schema}.workflow_history where action = 'retry'`,
  )
  return rows[0]
}

/** Counts what is left, and changes it: then each has been changed once. */
async function restOf(at: Jobs, handler: DashboardHandler, runs: number): Promise<Repair> {
  const rest = await counted(handler)
  await begin(handler, rest)
  await ended(handler, rest.id, 'done')
  expect(await retries(at)).toEqual({ runs, entries: runs })
  return rest
}

test('a run whose row another session holds is refused, and changed once it is free; the others are changed', async () => {
  const at = await jobs({ single: 5, children: 0 })
  mail.works = true
  const other = await session(at.url)
  const [held] = await at.worker.runs.list({ workflow: 'job', limit: 1 })
  const handler = opened({ engine: impatient(at, 'held') })
  const repair = await counted(handler)
  await other.query('begin')
  await other.query(`select from ${at.schema}.workflow_runs where id = $1 for update`, [held!.id])
  expect((await counted(handler)).found).toMatchObject({ matched: 5, changed: 4, refused: 1 })
  await begin(handler, repair)
  const done = await ended(handler, repair.id, 'done')
  expect(done.sentence).toBe('4 runs were retried, 1 refused.')
  expect(done.refusals).toMatchObject([
    { count: 1, why: expect.stringMatching(/^could not be read or changed: “/), runs: [{ id: held!.id }] },
  ])
  await other.query('rollback')
  expect((await restOf(at, handler, 5)).found).toMatchObject({ matched: 1, changed: 1 })
})

test('a repair whose connections are cut says how far it came, and counting again finds the rest', async () => {
  const at = await jobs({ single: 80, children: 0 })
  mail.works = true
  vi.spyOn(console, 'error').mockReturnValue()
  const handler = opened({ engine: impatient(at, 'cut') })
  const other = await session(at.url)
  const repair = await counted(handler)
  await begin(handler, repair)
  const cut = async () => {
    await other.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut'")
    expect((await read<Repair>(handler, `repairs/${repair.id}`)).state).toBe('failed')
  }
  await vi.waitFor(cut, { timeout: 60_000, interval: 20 })
  const failed = await ended(handler, repair.id, 'failed')
  expect(failed.sentence).toMatch(
    /^It ended early: The store cannot be used now.* Count again for the rest\.$/,
  )
  const changed = failed.done!.changed
  const { runs } = await retries(at)
  expect([changed, changed + 1]).toContain(runs)
  expect((await restOf(at, handler, 80)).found.changed).toBe(80 - runs)
})

const SCREENS = ['runs', 'overview', 'health', 'parked', 'needs', 'waiting', 'limits', 'schedules', 'workers']

test('while another session holds the tables every screen says so and no repair begins; afterwards all are there', async () => {
  const at = await jobs({ single: 2, children: 0 })
  const said = vi.spyOn(console, 'error').mockReturnValue()
  const handler = opened({ engine: impatient(at, 'locked') })
  const other = await session(at.url)
  const { rows } = await other.query(`select tablename from pg_tables where schemaname = $1`, [at.schema])
  await other.query('begin')
  await other.query(`lock table ${rows.map(({ tablename }) => `${at.schema}.${tablename}`).join(', ')}`)
  const all = [
    ...SCREENS,
    'versions',
    'versions/job',
    `runs/${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`,
  ]
  const answers = await Promise.all([
    ...all.map((path) => get(handler, path)),
    post(handler, 'repairs', { verb: 'retry', query: 'workflow=job' }),
    post(handler, 'limits/mail/actions', { action: 'set', dryRun: false, limit: 1, reason: 'x' }),
    post(handler, 'schedules/nightly/actions', { action: 'pause', dryRun: false, reason: 'x' }),
  ])
  for (const answer of answers) {
    expect(await answer.json()).toMatchObject({ code: 'store_unavailable' })
    expect(answer.status).toBe(503)
  }
  expect(await read(handler, 'repairs')).toEqual({ repairs: [] })
  expect(said.mock.calls.join()).toContain('pg_blocking_pids()')
  await other.query('rollback')
  for (const path of SCREENS) await read(handler, path)
})

test('a repair whose process is killed in the middle: another one finds exactly the rest', async () => {
  const at = await jobs({ single: 120, children: 0 })
  mail.works = true
  const killed = await anotherProcess(at)
  const repair = await counted(killed.handler)
  await begin(killed.handler, repair)
  const inTheMiddle = async () => {
    const { done } = await read<Repair>(killed.handler, `repairs/${repair.id}`)
    expect(done!.changed).toBeGreaterThan(20)
  }
  await vi.waitFor(inTheMiddle, { timeout: 60_000, interval: 5 })
  await killed.kill()
  const { runs } = await retries(at)
  const handler = opened({ engine: at.engine() })
  const gone = await get(handler, `repairs/${repair.id}`)
  expect(gone.status).toBe(404)
  expect(((await gone.json()) as Problem).message).toMatch(/history of that run/)
  expect(runs).toBeLessThan(120)
  expect((await restOf(at, handler, 120)).found.changed).toBe(120 - runs)
})

/** A dashboard in a process of its own. */
async function anotherProcess({ url, schema }: TestStore) {
  const child = spawn(process.execPath, [DASHBOARD], {
    env: { ...process.env, DATABASE_URL: url, SCHEMA: schema },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [address] = (await once(createInterface(child.stdout), 'line')) as [string]
  const handler: DashboardHandler = async (request) => {
    const { pathname, search } = new URL(request.url)
    const headers = { ...Object.fromEntries(request.headers), origin: address }
    const body = request.method === 'POST' ? { body: await request.text() } : {}
    return fetch(`${address}${pathname}${search}`, { method: request.method, headers, ...body })
  }
  return {
    handler,
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
