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

it('a worker survives a restart of the database in the middle of a run, says so, and goes on', async ({
  onTestFinished,
}) => {
  const server = await startPostgres({ major: 18 })
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

it('connections that the server ends while they are idle neither end the process nor hold up a run', async ({
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
    message: expect.stringMatching(/migrate/),
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

  // Notifications are sent on their own time, and may belong to the run before.
  expect(texts.filter((text) => !text.includes('pg_notify'))).toHaveLength(1)
  expect(texts.join('\n')).not.toMatch(/\b(create|alter|drop)\b/i)
})
