import type { LookupFunction } from 'node:net'
import { Socket } from 'node:net'
import { startPostgres } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { expect, it } from 'vitest'
import { postgres } from '../../src/index.ts'
import { createDatabase, servers } from '../setup/database.ts'

const chain = (between: () => Promise<void>) =>
  define('outage', { version: 1 })
    .step('before', { run: () => 1 })
    .step('during', {
      dependsOn: ['before'],
      run: async ({ deps }) => {
        await between()
        return deps.before + 1
      },
    })
    .step('after', { dependsOn: ['during'], run: ({ deps }) => deps.during + 1 })

it('a worker survives a restart of the database in the middle of a run, reports it, and continues', async ({
  onTestFinished,
}) => {
  const server = await startPostgres({ major: 18, inMemory: true })
  onTestFinished(() => server.stop())
  let noticed = () => {}
  const outageNoticed = new Promise<void>((resolve) => {
    noticed = resolve
  })
  const workflow = chain(() => server.restart({ whileDown: () => outageNoticed }))
  const engine = createEngine({
    adapter: postgres(server.url, { autoMigrate: true }),
    workflows: [workflow],
  })
  onTestFinished(() => engine.close())
  const told: string[] = []
  engine.on('store.unavailable', ({ message }) => {
    told.push(message)
    noticed()
  })
  const recovered = new Promise<void>((resolve) => engine.on('store.recovered', () => resolve()))
  await engine.start()

  const run = await engine.run(workflow)

  expect(await run.result()).toEqual({ before: 1, during: 2, after: 3 })
  await recovered
  expect(told.length).toBeGreaterThan(0)
  expect(told.join()).not.toMatch(/password|postgres:\/\//)
})

it('idle connections that the server closes neither end the process nor hold up a run', async ({
  onTestFinished,
}) => {
  const database = await createDatabase(servers[0]!.url)
  const workflow = chain(async () => {})
  const engine = createEngine({
    adapter: postgres(database.url, { autoMigrate: true }),
    workflows: [workflow],
  })
  onTestFinished(() => database.drop())
  onTestFinished(() => engine.close())
  await engine.start()
  await (await engine.run(workflow)).result()

  const { rows } = await database.pool.query(
    'select count(pg_terminate_backend(pid))::int as ended from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  const run = await engine.run(workflow)

  expect(rows[0].ended).toBeGreaterThan(0)
  expect(await run.result()).toEqual({ before: 1, during: 2, after: 3 })
})

it('an outcome waits until the host’s name resolves again, and its handler runs once', async ({
  onTestFinished,
}) => {
  const database = await createDatabase(servers[0]!.url)
  onTestFinished(() => database.drop())
  const names = nameService(new URL(database.url).hostname)
  let ran = 0
  const workflow = chain(async () => {
    ran += 1
    names.fail(10)
    await endSessions(database.pool)
  })
  const location = new URL(database.url)
  location.hostname = 'database.test'
  const config = { connectionString: location.href, stream: names.stream }
  const engine = createEngine({ adapter: postgres(config, { autoMigrate: true }), workflows: [workflow] })
  onTestFinished(() => engine.close())
  const told: string[] = []
  engine.on('store.unavailable', ({ message }) => told.push(message))
  const lost: unknown[] = []
  engine.on('lease.lost', (event) => lost.push(event))
  await engine.start()

  const run = await engine.run(workflow)

  expect(await run.result()).toEqual({ before: 1, during: 2, after: 3 })
  expect(ran).toBe(1)
  expect(lost).toEqual([])
  expect(names.failed()).toBe(10)
  expect(told.join()).toMatch(/The host name "database.test" is unknown/)
})

it('an outcome waits until this process has the changed password, and its handler runs once', async ({
  onTestFinished,
}) => {
  const server = await startPostgres({ major: 18, inMemory: true })
  onTestFinished(() => server.stop())
  const admin = new pg.Pool({ connectionString: server.url, max: 1 })
  admin.on('error', () => {})
  await admin.query(`create role rotated login superuser password 'one'`)
  const { rows } = await admin.query('show hba_file')
  await admin.query(
    `copy (select unnest(array['host all rotated all scram-sha-256', 'host all all all trust'])) to '${rows[0].hba_file}'`,
  )
  await admin.query('select pg_reload_conf()')
  let refused = 0
  let isRotated = false
  let ran = 0
  const workflow = chain(async () => {
    ran += 1
    await admin.query(`alter role rotated password 'two'`)
    isRotated = true
    await endSessions(admin)
  })
  const location = new URL(server.url)
  location.username = 'rotated'
  const password = async () => {
    if (isRotated) refused += 1
    return refused > 10 ? 'two' : 'one'
  }
  const { hostname: host, port, pathname } = location
  const config = { host, port: Number(port), user: 'rotated', database: pathname.slice(1), password }
  const engine = createEngine({ adapter: postgres(config, { autoMigrate: true }), workflows: [workflow] })
  onTestFinished(async () => {
    await engine.close()
    await admin.end()
  })
  const told: string[] = []
  engine.on('store.unavailable', ({ message }) => told.push(message))
  await engine.start()

  const run = await engine.run(workflow)

  expect(await run.result()).toEqual({ before: 1, during: 2, after: 3 })
  expect(ran).toBe(1)
  expect(refused).toBeGreaterThan(10)
  expect(told.join()).toMatch(/Check the password of user "rotated"/)
})

/** Terminates the adapter's sessions. Waits up to a second for each: one that still has a statement to read might answer it first. */
async function endSessions(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(pid, 1000) as ended from pg_stat_activity where application_name = 'belay' and datname = current_database()`,
  )
  expect(rows.map(({ ended }) => ended)).not.toContain(false)
}

/** Resolves any name to one address. Fails the given number of times, like a name service that has lost the name. */
function nameService(address: string) {
  let failures = 0
  let left = 0
  const lookup: LookupFunction = (_name, options, answer) => {
    if (left > 0) {
      left -= 1
      failures += 1
      return answer(
        Object.assign(new Error('getaddrinfo ENOTFOUND database.test'), { code: 'ENOTFOUND' }),
        '',
      )
    }
    if (options.all) answer(null, [{ address, family: 4 }])
    else answer(null, address, 4)
  }
  return {
    stream(): Socket {
      const socket = new Socket()
      const connect = socket.connect.bind(socket)
      socket.connect = ((port: number, host: string) => connect({ port, host, lookup })) as Socket['connect']
      return socket
    },
    fail(times: number) {
      left = times
    },
    failed: () => failures,
  }
}

it('says what is wrong with a database that it cannot use, without the password', async () => {
  const { hostname, port } = new URL(servers[0]!.url)
  const start = (url: string) => {
    const engine = createEngine({ adapter: postgres(url), workflows: [chain(async () => {})] })
    return engine.start().finally(() => engine.close())
  }

  await expect(start(`postgres://postgres@${hostname}:${port}/no_such_database`)).rejects.toMatchObject({
    code: 'store_misconfigured',
    message: expect.stringMatching(/no_such_database/),
  })
  await expect(start('postgres://someone:s3cret@127.0.0.1:1/db')).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.not.stringMatching(/s3cret/),
  })
  expect(() => postgres('mysql://host/db')).toThrow(/postgres/)
})

it('asks for the migration on a database that has none, and says how', async ({ onTestFinished }) => {
  const database = await createDatabase(servers[0]!.url)
  onTestFinished(() => database.drop())
  const engine = createEngine({ adapter: postgres(database.url) })
  onTestFinished(() => engine.close())

  await expect(engine.run(chain(async () => {}))).rejects.toMatchObject({
    code: 'schema_missing',
    message: expect.stringMatching(/dev: true.*autoMigrate: true.*migrate\(url\)/),
  })
})

it('a run costs one statement, and no DDL', async ({ onTestFinished }) => {
  const database = await createDatabase(servers[0]!.url)
  onTestFinished(() => database.drop())
  const texts: string[] = []
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      texts.push(typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text)
      return query(...args)
    }) as typeof client.query
  })
  onTestFinished(() => pool.end())
  const workflow = chain(async () => {})
  const engine = createEngine({
    adapter: postgres(pool, { autoMigrate: true, listen: false }),
    workflows: [workflow],
  })
  onTestFinished(() => engine.close())
  await engine.run(workflow)
  texts.length = 0

  await engine.run(workflow)

  // Notifications are sent separately, and may belong to the previous run.
  expect(texts.filter((text) => !text.includes('pg_notify'))).toHaveLength(1)
  expect(texts.join('\n')).not.toMatch(/\b(create|alter|drop)\b/i)
})
