import { randomUUID } from 'node:crypto'
import { BelayError, StoreUnavailableError } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const [server] = servers

describe('connecting', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(server!.url)
  })
  afterAll(() => database.drop())

  const failureOf = async (connect: () => unknown): Promise<BelayError> => {
    try {
      await connect()
    } catch (error) {
      if (BelayError.is(error)) return error
      throw error
    }
    return expect.fail('was expected to fail')
  }

  /** Opens an adapter on a variation of the database's url. */
  const openWith = (change: (url: URL) => void) => async () => {
    const url = new URL(database.url)
    change(url)
    const adapter = postgres(url.href)
    await adapter.open().finally(() => adapter.close())
  }

  it('without a url asks whether it is set', async () => {
    for (const missing of [undefined, '']) {
      const error = await failureOf(() => postgres(missing))
      expect(error).toMatchObject({ code: 'store_misconfigured' })
      expect(error.message).toContain('environment variable')
    }
  })

  it('with an invalid url says so and does not reveal the password', async () => {
    for (const url of [
      'mysql://u:secret@host/db',
      'just text secret',
      'postgres://u:secret@host:notaport/db',
    ]) {
      const error = await failureOf(() => postgres(url))
      expect(error).toMatchObject({ code: 'store_misconfigured' })
      expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('secret')
    }
  })

  it('to a database that does not exist names it and says how to create it', async () => {
    const error = await failureOf(openWith((url) => (url.pathname = '/nowhere')))
    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toMatch(/"nowhere" at .+:\d+.*createdb nowhere/)
  })

  it('to a host that does not exist names it', async () => {
    const error = await failureOf(openWith((url) => (url.hostname = 'no-such-host.invalid')))
    // An unreachable resolver itself says "try again".
    expect(['store_misconfigured', 'store_unavailable']).toContain(error.code)
    expect(error.message).toContain('no-such-host.invalid')
  })

  it('to a port where nobody listens is reported as a temporary failure', async () => {
    const error = await failureOf(openWith((url) => (url.port = '1')))
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error.message).toMatch(/:1: .*ECONNREFUSED/)
  })

  it('as a user that does not exist names the user, but not the password', async () => {
    const error = await failureOf(
      openWith((url) => {
        url.username = 'nobody_here'
        url.password = 'secret'
      }),
    )
    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain('nobody_here')
    expect(JSON.stringify([error.message, error.stack])).not.toContain('secret')
  })

  it('as a user without the rights says which to grant', async () => {
    const store = await createStore(database)
    const role = `limited_${randomUUID().slice(0, 8)}`
    await database.pool.query(`create role ${role} login password 'secret'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'secret'
    const adapter = postgres(url.href, { schema: store.schema })

    const error = await failureOf(() => adapter.open())

    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain(`Grant user "${role}"`)
    await adapter.close()
    await database.pool.query(`drop role ${role}`)
  })

  it('to an open store without a right any more is a temporary failure, and says which right to grant', async () => {
    const role = `limited_${randomUUID().slice(0, 8)}`
    const store = await createStore(database)
    await database.pool.query(`create role ${role} login; grant usage on schema ${store.schema} to ${role};
      grant select on all tables in schema ${store.schema} to ${role}`)
    const url = new URL(database.url)
    url.username = role
    const adapter = postgres(url.href, { schema: store.schema })
    await adapter.open()
    await database.pool.query(`revoke all on schema ${store.schema} from ${role}`)

    const error = await failureOf(() => adapter.now())
    await database.pool.query(`grant usage on schema ${store.schema} to ${role}`)

    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(error.message).toContain(`Grant user "${role}"`)
    expect(await adapter.now()).toBeGreaterThan(0)
    await adapter.close()
    await database.pool.query(`drop owned by ${role}; drop role ${role}`)
  })

  it('leaves the data errors of a statement unchanged', async () => {
    const store = await createStore(database)
    const payload = { runId: 'not-a-uuid', steps: [] }
    await expect(store.load([payload])).rejects.toMatchObject({ code: '22P02' })
  })
})

describe('options', () => {
  const URL = 'postgres://localhost/db'
  const invalid = (options: object) => {
    try {
      postgres(URL, options)
    } catch (error) {
      return error as BelayError
    }
    return expect.fail('was expected to be refused')
  }

  it('that do not exist are refused, naming the most similar one', () => {
    const error = invalid({ automigrate: true })
    expect(error).toMatchObject({ code: 'invalid_option' })
    expect(error.message).toContain('Did you mean "autoMigrate"?')
    expect(invalid({ colour: 'red' }).message).toContain('It takes schema, autoMigrate')
  })

  it('with unsuitable values are refused, naming what is accepted', () => {
    expect(invalid({ connectionsMax: 0 }).message).toMatch(
      /connectionsMax must be a whole number from 1 to 1000; got 0\./,
    )
    expect(invalid({ prepare: 'yes' }).message).toMatch(/prepare must be true or false; got "yes"\./)
    expect(invalid({ queryTimeoutMs: 1.5 }).message).toContain('queryTimeoutMs')
  })

  it('accept no schema name that Postgres would change or refuse', () => {
    for (const schema of ['', 'pg_temp', 'a"b', 'a.b', '1st', 'x'.repeat(64)]) {
      expect(invalid({ schema })).toMatchObject({ code: 'invalid_option' })
    }
  })
})
