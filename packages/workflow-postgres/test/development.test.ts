import { createEngine, define, type Logger } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const order = define('order', { version: 1 }).step('pack', { run: () => 'packed' })

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

describe.each(servers)('the schema in development mode on $name', ({ url }) => {
  let database: TestDatabase
  let schemas = 0
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** An engine on a schema that does not exist yet. */
  function fresh(dev: boolean, options: PostgresOptions = {}) {
    schemas += 1
    const adapter = postgres(database.pool, { schema: `dev_${schemas}`, listen: false, ...options })
    database.stores.push(adapter)
    const engine = createEngine({ adapter, workflows: [order], dev, logger: silent })
    const notices: string[] = []
    engine.on('store.notice', ({ level, code, message }) => notices.push(`${level} ${code}: ${message}`))
    return { engine, notices, schema: `dev_${schemas}` }
  }

  it('is made by the first call, and a notice says so', async () => {
    const { engine, notices, schema } = fresh(true)

    const run = await engine.run(order)

    expect((await run.status()).status).toBe('running')
    expect(notices).toEqual([expect.stringMatching(/^info schema_migrated: Development mode .*0000/)])
    expect(notices[0]).toContain(`"${schema}"`)
    expect(notices[0]).toContain('autoMigrate: false')
  })

  it('is not touched, and nothing is said, when it is up to date', async () => {
    const { engine, schema } = fresh(true)
    await engine.run(order)
    const later = fresh(true, { schema })

    await later.engine.run(order)

    expect(later.notices).toEqual([])
  })

  it('is not made when the adapter has autoMigrate: false, and the error does not offer development mode', async () => {
    const { engine, notices } = fresh(true, { autoMigrate: false })

    const refused = await engine.run(order).catch((error) => error)

    expect(refused).toMatchObject({ code: 'schema_missing' })
    expect(refused.message).toContain('Remove autoMigrate: false')
    expect(refused.message).not.toContain('dev: true')
    expect(notices).toEqual([])
  })

  it('is not made without development mode', async () => {
    const { engine } = fresh(false)

    await expect(engine.run(order)).rejects.toMatchObject({ code: 'schema_missing' })
  })

  it('is made for a first call in a transaction of the caller', async () => {
    const { engine } = fresh(true)
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      const run = await engine.run(order, undefined, { tx: client })
      await client.query('commit')

      expect((await run.status()).status).toBe('running')
    } finally {
      client.release()
    }
  })
})
