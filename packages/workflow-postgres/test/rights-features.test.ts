import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createEngine, define, defineGraph, type Engine } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const PAGE = new URL('../../../docs/database.md', import.meta.url)
const WITHIN = { timeout: 30_000 }

/** The statements of the page, for roles of other names. */
function documentedGrants(suffix: string): string {
  const [, sql] = /```sql\n(create role belay_worker[\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? []
  if (sql === undefined) throw new Error('docs/database.md has no grants any more.')
  return sql.replaceAll(/belay_(worker|reader)/g, (role) => `${role}_${suffix}`)
}

const child = define('child', { version: 1 }).step('own', { run: () => 'own', compensate: () => {} })
const everything = define('everything', { version: 1 })
  .step('taken', {
    concurrency: { name: 'slots', limit: 1 },
    rateLimit: { name: 'rate', limit: 50, per: '1s' },
    priority: 3,
    run: async ({ publish }) => {
      publish('told', 1)
      return 1
    },
    compensate: () => {},
  })
  .step('written', {
    dependsOn: ['taken'],
    transaction: postgresTransaction(),
    run: async ({ tx }) => (await tx.client.query('select 1 as one')).rows[0].one as number,
    compensate: { transaction: postgresTransaction(), run: () => {} },
  })
  .map('items', {
    dependsOn: ['written'],
    over: () => Array.from({ length: 100 }, (_, item) => item),
    run: ({ item }) => item,
    compensate: () => {},
  })
  .repeat('rounds', {
    dependsOn: ['written'],
    run: ({ round }) => round,
    until: ({ round }) => round === 3,
    max: 5,
  })
  .workflow('part', child, { dependsOn: ['items', 'rounds'] })
  .approval('allowed', { dependsOn: ['part'] })
  .waitForSignal('shipped', { dependsOn: ['allowed'] })
  .step('last', {
    dependsOn: ['shipped'],
    retry: { attempts: 2, initial: 1 },
    run: ({ deps }) => {
      if (deps.shipped === 'lost') throw new Error('lost')
      return 'done'
    },
  })
const newest = define('newest', {
  version: 1,
  concurrency: { limit: 1, atLimit: 'cancel-older' },
})
  .waitForSignal('go')
  .step('end', { dependsOn: ['go'], run: () => 1 })
const refusing = define('refusing', {
  version: 1,
  concurrency: { limit: 1, atLimit: 'refuse' },
}).waitForSignal('go')
const collecting = define('collecting', { version: 1, start: { batch: { max: 2, within: '1m' } } }).step(
  'all',
  {
    run: ({ input }) => (input as readonly unknown[]).length,
  },
)
const ending = defineGraph(
  'ending',
  {
    version: 1,
    steps: { one: { handler: 'one' } },
    dag: {},
    ends: { after: { after: 'any', handler: 'one' } },
  },
  { one: () => 1 },
)
const workflows = [everything, child, newest, refusing, collecting, ending]

describe.each(servers)('the documented rights, on $name', ({ url }) => {
  const suffix = randomBytes(6).toString('hex')
  let database: TestDatabase
  const as = (role: 'worker' | 'reader') => database.url.replace('postgres@', `belay_${role}_${suffix}@`)
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.url).migrate()
    await database.pool.query(documentedGrants(suffix))
  })
  afterAll(async () => {
    for (const role of ['worker', 'reader'])
      await database.pool.query(
        `drop owned by belay_${role}_${suffix} cascade; drop role belay_${role}_${suffix}`,
      )
    await database.drop()
  })

  const worker = async (options: { readonly attempts?: 'keep' } = {}) => {
    const engine = createEngine({ adapter: postgres(as('worker')), workflows, tick: '20ms', ...options })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  it('allow every kind of step, forward and in an undo', async () => {
    const engine = await worker({ attempts: 'keep' })
    const [good, bad] = await engine.runMany(everything, [{ key: 'good', priority: 2 }, { deadline: '1h' }])
    for (const run of [good!, bad!]) await expect.poll(() => approve(run), WITHIN).toBe(true)
    await good!.signal('shipped', 'by mail')
    await bad!.signal('shipped', 'lost')

    expect(await good!.result()).toMatchObject({ taken: 1, written: 1, part: { own: 'own' }, last: 'done' })
    await expect(bad!.result()).rejects.toMatchObject({ status: 'compensated' })
    expect(await engine.runs.attempts(bad!.id)).not.toEqual([])
    expect(await engine.run(ending).then((run) => run.result())).toEqual({ one: 1 })
    await ended(engine, 5)
  })

  it('allow limits of runs, collected calls, schedules and transactions', async () => {
    const engine = await worker()
    const older = await engine.run(newest)
    await engine.run(newest)
    await expect(older.result()).rejects.toMatchObject({ status: 'cancelled' })
    const first = await engine.run(refusing)
    await expect(engine.run(refusing)).rejects.toMatchObject({ code: 'limit_reached' })
    await first.cancel()
    await engine.limits.set('slots', { concurrency: 2 })
    const calls = await Promise.all([engine.run(collecting, 1), engine.run(collecting, 2)])
    expect(await calls[0]!.result()).toEqual({ all: 2 })

    await engine.schedules.put('often', { every: '1s', workflow: 'child' })
    await expect.poll(() => engine.runs.list({ workflow: 'child' }), WITHIN).not.toEqual([])
    await engine.schedules.trigger('often')
    await engine.schedules.pause('often')
    await engine.schedules.delete('often')

    const pool = new pg.Pool({ connectionString: as('worker'), max: 3 })
    const starter = createEngine({ adapter: postgres(pool), workflows })
    const client = await pool.connect()
    await client.query('begin')
    const run = await starter.run(child, undefined, { tx: client })
    await client.query('commit')
    client.release()
    expect(await engine.runs.handle(run.id).result()).toEqual({ own: 'own' })
    await starter.close()
    await pool.end()
  })

  it('allow what operators do, and pruning', async () => {
    const engine = await worker()
    const run = await engine.run(everything)
    await run.pause({ by: 'operator' })
    await run.resume()
    await expect.poll(() => approve(run), WITHIN).toBe(true)
    await run.setPriority(5)
    const skip = () =>
      run.skipStep('shipped', { output: 'lost' }).then(
        () => true,
        () => false,
      )
    await expect.poll(skip, WITHIN).toBe(true)
    await expect(run.result()).rejects.toMatchObject({ status: 'compensated' })
    await run.retry()
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run_failed' })
    await engine.runs.retryMany({ workflow: 'everything' }, { dryRun: true })
    expect((await run.history()).length).toBeGreaterThan(3)
    await run.explain()
    await engine.runs.list()
    await engine.workers.list()
    await engine.approvals.pending()
    await engine.signals.pending()
    await engine.limits.lines('any')
    expect((await engine.doctor()).findings.filter(({ type }) => type !== 'failing_runs')).toEqual([])
    expect((await engine.prune({ olderThan: 0 })).pruned).toBeGreaterThan(0)
  })

  it('let the role for dashboards read every table and view, and write none', async () => {
    const reader = new pg.Client({ connectionString: as('reader') })
    await reader.connect()
    onTestFinished(() => reader.end())
    const { rows } = await database.pool.query(
      `select table_name as name, table_type as type from information_schema.tables where table_schema = 'belay'`,
    )
    expect(rows.filter(({ type }) => type === 'VIEW').length).toBeGreaterThan(3)
    for (const { name } of rows) await reader.query(`select * from belay.${name} limit 5`)
    await expect(reader.query('delete from belay.workflow_runs')).rejects.toMatchObject({ code: '42501' })
  })
})

async function approve(run: {
  approve(step: 'allowed', decision: { readonly by: string }): Promise<unknown>
  status(): Promise<{ readonly steps: readonly { readonly name: string; readonly status: string }[] }>
}) {
  const step = (await run.status()).steps.find(({ name }) => name === 'allowed')
  if (step?.status !== 'waiting') return false
  await run.approve('allowed', { by: 'boss' })
  return true
}

/** Until so many runs have ended, follow-ups included. */
async function ended(engine: Engine, runs: number): Promise<void> {
  await expect
    .poll(
      async () => (await engine.runs.list()).filter(({ finishedAt }) => finishedAt !== null).length,
      WITHIN,
    )
    .toBeGreaterThanOrEqual(runs)
}
