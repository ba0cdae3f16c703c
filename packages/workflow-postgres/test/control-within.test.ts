import { createEngine, define, type Engine, type RunHandle } from '@belay/workflow'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const ship = define('ship', { version: 1 }).step('pack', { run: () => 'packed', compensate: () => {} })

describe.each(servers)('actions on runs in callers’ transactions on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let engine: Engine
  let client: pg.Client

  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query('create table orders (id int)')
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    store = postgres(database.url, { autoMigrate: true })
    engine = createEngine({ adapter: store, workflows: [ship] })
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
  })
  afterEach(async () => {
    await client.end()
    await engine.close()
  })

  const lockTimeout = async () => {
    const { rows } = await client.query('show lock_timeout')
    return rows[0]
  }

  it('wake workers when the transaction commits', async () => {
    const run = await engine.run(ship)
    await run.pause()
    await engine.start()

    await client.query('begin')
    await client.query('insert into orders values (1)')
    await run.resume({ tx: client })
    await client.query('commit')

    expect(await run.result()).toEqual({ pack: 'packed' })
  })

  it('keep the transaction’s own settings, even when they are refused', async () => {
    const run = await engine.run(ship)
    await client.query(`begin; set local lock_timeout = '7s'`)

    await run.pause({ tx: client })
    await run.pause({ tx: client })
    expect(await lockTimeout()).toEqual({ lock_timeout: '7s' })
    const gone: RunHandle = engine.runs.handle('00000000-0000-7000-8000-000000000000')
    await expect(gone.pause({ tx: client })).rejects.toMatchObject({ code: 'unknown_run' })
    expect(await lockTimeout()).toEqual({ lock_timeout: '7s' })
    await run.cancel({ tx: client })
    await expect(run.cancel({ tx: client, compensate: false })).rejects.toMatchObject({
      code: 'action_refused',
    })
    expect(await lockTimeout()).toEqual({ lock_timeout: '7s' })
    await client.query('commit')

    expect((await run.status()).status).toBe('compensating')
  })

  it('emit no events, because the transaction may still be rolled back', async () => {
    const run = await engine.run(ship)
    const told: string[] = []
    engine.on('operator.acted', ({ action }) => told.push(action))
    engine.on('run.paused', () => told.push('paused'))

    await client.query('begin')
    await run.pause({ tx: client })
    await client.query('rollback')

    expect(told).toEqual([])
    expect((await run.status()).status).toBe('running')
  })
})
