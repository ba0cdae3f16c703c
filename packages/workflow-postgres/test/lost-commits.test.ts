import { createPglite, startPostgres } from '@belay/postgres-server'
import { createEngine, define, type Engine, unchecked } from '@belay/workflow'
import { type CallerTransaction, definitionNumber } from '@belay/workflow/adapter'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgres, type SqlAdapter } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, servers } from './setup/database.ts'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
/** Everything but the migrations, in a state that a dump had. Sequences begin again too. */
const EMPTIED = `do $$ begin
  execute (select 'truncate ' || string_agg(format('belay.%I', tablename), ', ') || ' restart identity cascade'
    from pg_tables where schemaname = 'belay' and tablename <> 'workflow_migrations');
end $$`

interface Store {
  /** An adapter like that of another process. */
  connect(): SqlAdapter
  query(text: string, values?: unknown[]): Promise<unknown>
  /** Runs work in an application's transaction. */
  transaction<Result>(work: (tx: CallerTransaction) => Promise<Result>): Promise<Result>
}

async function onServer(serverUrl: string): Promise<Store> {
  const { url, pool, drop } = await createDatabase(serverUrl)
  onTestFinished(drop)
  await migrate(url)
  return {
    connect: () => postgres(url),
    query: (text, values) => pool.query(text, values),
    async transaction(work) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const result = await work(client)
        await client.query('commit')
        return result
      } finally {
        client.release()
      }
    },
  }
}

async function inPglite(): Promise<Store> {
  const db = await createPglite()
  onTestFinished(() => db.close())
  await pglite(db, { autoMigrate: true }).open()
  return {
    connect: () => pglite(db),
    query: (text, values) => db.query(text, values),
    transaction: (work) => db.transaction(async (tx) => work(tx)),
  }
}

const stores = [
  ...servers.map(({ name, url }) => ({ name, open: () => onServer(url) })),
  { name: 'PGlite', open: inPglite },
]

function noting(name: string) {
  const inputs: string[] = []
  const workflow = define(name, { version: 1, input: unchecked<string>() }).step('note', {
    run: ({ input }) => {
      inputs.push(input)
      return input
    },
  })
  return { name, workflow, inputs }
}

/** Stopped last in, first out: before its store goes. */
async function started(options: Parameters<typeof createEngine>[0]): Promise<Engine> {
  const engine = createEngine({ logger: SILENT, lease: '1s', tick: '50ms', ...options })
  onTestFinished(() => engine.close({ timeout: 0 }))
  if (options.workflows !== undefined) await engine.start()
  return engine
}

describe.each(stores)('a store that lost commits, on $name', ({ open }) => {
  it('gets its definitions again from a worker, from a process without one, and in a caller’s transaction', async () => {
    const store = await open()
    const [orders, mails] = [noting('orders'), noting('mails')]
    const worker = await started({ adapter: store.connect(), workflows: [orders.workflow] })
    const trigger = await started({ adapter: store.connect() })
    await trigger.run(mails.workflow, 'before')
    await trigger.run(orders.workflow, 'before')

    await store.query('delete from belay.workflow_definitions')
    await store.query('delete from belay.workflow_definition_steps')
    const run = await worker.run(orders.workflow, 'worker')
    const within = await store.transaction((tx) => trigger.run(mails.workflow, 'within', { tx }))
    const own = await trigger.run(orders.workflow, 'trigger')

    expect(await run.result()).toEqual({ note: 'worker' })
    expect(await own.result()).toEqual({ note: 'trigger' })
    expect(await within.status()).toMatchObject({ workflow: 'mails', version: 1 })
  })

  it('never hands one workflow’s input to another’s handler, though a restored dump had other definitions first', async () => {
    const store = await open()
    const all = Array.from({ length: 5 }, (_, n) => noting(`flow-${n}`))
    const workflows = all.map(({ workflow }) => workflow)
    const worker = await started({ adapter: store.connect(), workflows })
    await store.query(EMPTIED)
    const other = await started({ adapter: store.connect(), workflows: [...workflows].reverse() })

    for (const { name, workflow } of all)
      for (const engine of [worker, other]) await engine.run(workflow, name)

    await expect
      .poll(() => all.map(({ inputs }) => inputs.length), { timeout: 20_000 })
      .toEqual([2, 2, 2, 2, 2])
    for (const { name, inputs } of all) expect(inputs).toEqual([name, name])
  })

  it('is noticed by a worker whose own renewal is gone', async () => {
    const store = await open()
    const engine = await started({ adapter: store.connect(), workflows: [noting('orders').workflow] })
    const codes: string[] = []
    engine.on('store.notice', ({ code }) => void codes.push(code))
    const renewals = async () =>
      (await engine.workers.list()).map(({ renewedAt }) => renewedAt?.getTime() ?? 0)
    const [first = 0] = await renewals()
    await expect.poll(async () => (await renewals())[0], { timeout: 10_000 }).toBeGreaterThan(first)

    await store.query(`update belay.workflow_workers set renewed_at = renewed_at - interval '1 minute'`)

    await expect.poll(() => codes, { timeout: 10_000 }).toEqual(['store_went_back'])
    expect((await engine.doctor()).findings).toMatchObject([{ type: 'store_went_back', isSure: true }])
  })

  it('gives a definition another number if its own is taken, and all processes agree on it', async () => {
    const store = await open()
    const { record } = noting('orders').workflow
    const number = definitionNumber(record)
    await store.query(
      `insert into belay.workflow_definitions (id, name, version, checksum, shape, created_at) overriding system value
       values (${number}, 'other', 1, 'c', '{"steps":[]}', now())`,
    )
    const [one, two] = [store.connect(), store.connect()]
    await Promise.all([one, two].map((adapter) => adapter.open()))

    const saved = await Promise.all([one, two].map((adapter) => adapter.saveDefinitions([record])))

    expect(saved.map(([definition]) => definition!.id)).toEqual([
      definitionNumber(record, 1),
      definitionNumber(record, 1),
    ])
    expect(await one.findDefinition({ name: 'other' })).toMatchObject({ id: number })
    await Promise.all([one, two].map((adapter) => adapter.close()))
  })
})

describe('the timeline of a database', () => {
  it('changes when a standby is promoted', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const database = await server.createDatabase()
    await migrate(database)
    const standby = await server.startStandby()
    onTestFinished(() => standby.stop())
    const there = new URL(database)
    there.port = String(standby.port)
    const adapters = [postgres(database), postgres(there.href)]
    onTestFinished(async () => {
      await Promise.all(adapters.map((adapter) => adapter.close()))
    })

    const before = await adapters[0]!.timeline?.()
    await server.kill()
    await standby.promote()
    const after = await adapters[1]!.timeline?.()

    expect(before).toMatch(/^\d+\/00000001$/)
    expect(after).toBe(before!.replace(/1$/, '2'))
  })

  it('is null where its functions are revoked, and not asked for again', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const database = await server.createDatabase()
    const owner = new pg.Client({ connectionString: database })
    await owner.connect()
    await owner.query('create role bare login; revoke execute on function pg_control_system() from public')
    const adapter = postgres(database.replace('postgres@', 'bare@'))
    onTestFinished(() => adapter.close())

    expect(await adapter.timeline?.()).toBeNull()
    await owner.query('grant execute on function pg_control_system() to public')

    expect(await adapter.timeline?.()).toBeNull()
    await owner.end()
  })
})
