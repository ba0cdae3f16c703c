import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { classified, outageOf } from '../src/base/errors.ts'
import { migrate, postgres, postgresTransaction } from '../src/index.ts'
import { classified as classifiedOfPglite, notOpened } from '../src/pglite/errors.ts'
import { createDatabase, servers } from './setup/database.ts'

const ADDRESS = { host: 'db.example', port: 5432, database: 'shop', user: 'app' }

/** A word of the remedy that only this error has. */
const REMEDIES: Readonly<Record<string, RegExp>> = {
  '25006': /standby.*address of the primary.*READ WRITE/,
  '25P03': /idle_in_transaction_session_timeout/,
  '25P04': /transaction_timeout/,
  '42501': /Grant user "app".*row-level security/,
  '53100': /disk of the database is full/,
  '53200': /out of memory/,
  '53300': /max_connections/,
  '53400': /temp_file_limit/,
  '53000': /out of a resource/,
  '57014': /statement_timeout or Belay’s own limit for a query allows \(queryTimeoutMs/,
  '57P01': /shuts down/,
  '57P02': /crashed/,
  '57P03': /starting up/,
  '57P04': /dropped/,
  '57P05': /idle_session_timeout/,
  '58030': /read or write a file/,
}

const errorOf = (code: string) => Object.assign(new Error('It was refused'), { code })

describe('the error of a store that cannot be used', () => {
  it.each(Object.keys(REMEDIES))(
    'says what SQLSTATE %s asks for, and not that the server is down',
    (code) => {
      const error = outageOf(errorOf(code), { ...ADDRESS, wasOpen: true }) as Error

      expect(error).toMatchObject({ code: 'store_unavailable' })
      expect(error.message).toMatch(
        /^Belay cannot use the database "shop" at db.example:5432: It was refused\. /,
      )
      expect(error.message).toMatch(REMEDIES[code]!)
      expect(error.message).not.toMatch(/Check that the server runs/)
      const others = Object.entries(REMEDIES).filter(
        ([other, words]) => other !== code && words.test(error.message),
      )
      expect(others).toEqual([])
    },
  )

  it('asks for a look at the server only if it did not answer', () => {
    for (const code of ['ECONNREFUSED', 'ECONNRESET', '08006'])
      expect((classified(errorOf(code), ADDRESS) as Error).message).toMatch(
        /^Belay cannot reach .*Check that the server runs/,
      )
  })

  it('names the full disk in PGlite too, whichever way it reports it', () => {
    const full = [
      classifiedOfPglite(errorOf('53100')),
      notOpened('data', { name: 'ErrnoError', errno: 51 }),
      notOpened('data', errorOf('ENOSPC')),
    ]

    for (const error of full)
      expect(error).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringMatching(/disk of the database is full/),
      })
    expect(notOpened('data', { errno: 2 }).message).toMatch(/file system reports error 2/)
  })
})

const workflow = define('writes', { version: 1 }).step('write', {
  transaction: postgresTransaction(),
  retry: false,
  run: ({ tx }) => tx.client.query('select 1').then(() => null),
})

describe.each(servers)('on $name', ({ url }) => {
  it('row-level security that hides rows is named, instead of an older schema', async () => {
    const database = await createDatabase(url)
    const role = `belay_hidden_${database.url.slice(-12)}`
    onTestFinished(async () => {
      await database.pool.query(`drop owned by ${role}; drop role ${role}`)
      await database.drop()
    })
    await migrate(database.url)
    await database.pool.query(`
      create role ${role} login;
      grant usage on schema belay to ${role};
      grant all on all tables in schema belay to ${role};
      alter table belay.workflow_migrations enable row level security;
      alter table belay.workflow_runs enable row level security`)
    const adapter = postgres(database.url.replace('postgres@', `${role}@`))
    onTestFinished(() => adapter.close())

    await expect(adapter.open()).rejects.toMatchObject({
      code: 'store_misconfigured',
      message: expect.stringMatching(
        /Row-level security hides .*workflow_migrations, workflow_runs.*BYPASSRLS/,
      ),
    })
    // It does not apply to the owner of the tables.
    await expect(migrate(database.url)).resolves.toEqual({ applied: [] })
  })

  it.each(['LATIN1', 'EUC_JP', 'SQL_ASCII'])(
    'a database with the encoding %s is refused',
    async (encoding) => {
      const name = `belay_test_${encoding.toLowerCase()}_${Date.now()}`
      const server = new pg.Client({ connectionString: url })
      await server.connect()
      await server.query(
        `create database ${name} encoding '${encoding}' template template0 lc_collate 'C' lc_ctype 'C'`,
      )
      const place = new URL(url)
      place.pathname = `/${name}`
      onTestFinished(async () => {
        await server.query(`drop database ${name} with (force)`)
        await server.end()
      })
      const refused = {
        code: 'store_misconfigured',
        message: expect.stringMatching(
          `"${name}" has the encoding ${encoding}, .*ENCODING 'UTF8' TEMPLATE template0`,
        ),
      }

      await expect(migrate(place.href)).rejects.toMatchObject(refused)
      await expect(migrate(place.href, { dryRun: true })).rejects.toMatchObject(refused)
      const adapter = postgres(place.href, { autoMigrate: false })
      onTestFinished(() => adapter.close())
      await expect(adapter.open()).rejects.toMatchObject(refused)
    },
  )
})

describe('a standby', () => {
  it('is named, and runs go on once the server takes writes', async () => {
    const server = await startPostgres({ inMemory: true })
    onTestFinished(() => server.stop())
    const url = await server.createDatabase()
    await migrate(url)
    const engine = createEngine({ adapter: postgres(url), workflows: [workflow], tick: '50ms' })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    const asked = new pg.Client({ connectionString: url })
    await asked.connect()
    const { rows } = await asked.query<{ data_directory: string }>('show data_directory')
    await asked.end()
    const told = new Promise<{ readonly message: string }>((resolve) =>
      engine.on('store.unavailable', (event) => {
        if (/standby/.test(event.message)) resolve(event)
      }),
    )

    await server.restart({ whileDown: () => writeFile(join(rows[0]!.data_directory, 'standby.signal'), '') })
    const starting = engine.run(workflow, {}).catch((error: unknown) => error)

    expect((await told).message).toMatch(/cannot use .*The server is a standby.*address of the primary/)
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query('select pg_promote()')
    await admin.end()
    await starting
    const run = await engine.run(workflow, {})
    await run.result()
    expect((await run.status()).steps[0]).toMatchObject({ failures: 0 })
  })
})
