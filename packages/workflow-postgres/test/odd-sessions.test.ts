import { createEngine, define, type Engine } from '@belay/workflow'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresAdapter, postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers } from './setup/database.ts'

/** What a server, a role, a database or a pooler may have set. Each would break, or change, statements that rely on the default. */
const SETTINGS: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  default_transaction_isolation: `'serializable'`,
  default_transaction_deferrable: 'on',
  array_nulls: 'off',
  extra_float_digits: '-14',
  standard_conforming_strings: 'off',
  search_path: 'elsewhere, pg_catalog',
  client_encoding: `'LATIN1'`,
  DateStyle: `'German, DMY'`,
  IntervalStyle: `'sql_standard'`,
  TimeZone: `'Asia/Kathmandu'`,
  bytea_output: `'escape'`,
  xmloption: `'document'`,
  quote_all_identifiers: 'on',
  row_security: 'off',
  plan_cache_mode: `'force_custom_plan'`,
  enable_indexscan: 'off',
  jit: 'on',
  statement_timeout: `'9s'`,
  lock_timeout: `'9s'`,
  idle_in_transaction_session_timeout: `'9s'`,
}

/** Operators that hide the system's in a search path that names pg_catalog later. Each fails when it is used. */
const HIDING_OPERATORS = `do $do$
declare
  hidden record;
begin
  for hidden in select * from (values
    ('=', 'uuid', 'uuid'), ('=', 'text', 'text'), ('=', 'int', 'int'), ('=', 'name', 'name'), ('=', 'name', 'text'), ('=', 'oid', 'oid'),
    ('<>', 'text', 'text'), ('<', 'int', 'int'), ('<=', 'timestamptz', 'timestamptz'), ('+', 'int', 'int'), ('*', 'numeric', 'numeric'),
    ('||', 'text', 'text'), ('~', 'text', 'text'), ('!~', 'text', 'text'), ('->>', 'json', 'text')
  ) as h (name, one, other) loop
    execute format('create or replace function elsewhere.refuse(%1$s, %2$s) returns boolean language plpgsql
      as $$ begin raise exception ''the operator of the application was used''; end $$', hidden.one, hidden.other);
    execute format('create operator elsewhere.%s (leftarg = %s, rightarg = %s, function = elsewhere.refuse)',
      hidden.name, hidden.one, hidden.other);
  end loop;
end
$do$`

/** Beyond LATIN1, and a time with all of its digits. */
const TEXT = 'déjà vu 日本語 \\ \' "'

/** The settings that break most, and all others together. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  default_transaction_read_only: ['default_transaction_read_only'],
  array_nulls: ['array_nulls'],
  'all others': Object.keys(SETTINGS).filter((name) => !/read_only|array_nulls/.test(name)),
}

const child = define('child', { version: 1 }).step('one', { run: () => TEXT })

const workflow = define('odd', { version: 1 })
  .step('plain', { run: () => ({ text: TEXT, none: null }), compensate: () => {} })
  .step('write', {
    dependsOn: ['plain'],
    transaction: postgresTransaction(),
    retry: false,
    run: async ({ tx, deps, idempotencyKey }) => {
      await tx.client.query('insert into public.ledger values ($1)', [idempotencyKey])
      return deps.plain.text
    },
  })
  .map('each', { dependsOn: ['write'], over: () => [1, 2, 3], run: ({ item }) => item })
  .workflow('child', child, { dependsOn: ['each'], input: () => ({}) })
  .waitForSignal('go', { dependsOn: ['child'] })
  .step('end', {
    dependsOn: ['go'],
    retry: { attempts: 2, initial: 1 },
    run: ({ attempt, deps }) => {
      if (attempt === 1 || deps.go === 'fail') throw new Error(TEXT)
      return deps.go
    },
  })

/** A database with a ledger, in which all new sessions have these settings. */
async function oddDatabase(serverUrl: string, group: string) {
  const database = await createDatabase(serverUrl)
  onTestFinished(() => database.drop())
  const name = new URL(database.url).pathname.slice(1)
  await database.pool.query(`
    create schema elsewhere;
    create function elsewhere.now() returns timestamptz language sql as 'select ''epoch''::timestamptz';
    create table ledger (key text not null)`)
  await database.pool.query(HIDING_OPERATORS)
  for (const setting of GROUPS[group]!)
    await database.pool.query(`alter database ${name} set ${setting} = ${SETTINGS[setting]}`)
  return database
}

async function engineOn(adapter: PostgresAdapter): Promise<Engine> {
  const engine = createEngine({ adapter, workflows: [workflow, child], tick: '50ms' })
  onTestFinished(() => engine.close({ timeout: 0 }))
  await engine.start()
  return engine
}

const kinds = {
  'Belay’s own connections': (url: string) => postgres(url, { autoMigrate: true }),
  'an application’s Pool': (url: string) => {
    const pool = new pg.Pool({ connectionString: url, max: 6 })
    onTestFinished(() => pool.end())
    return postgres(pool, { autoMigrate: true })
  },
  'sessions of a pooler': (url: string) => postgres(url, { autoMigrate: true, prepare: false }),
} as const

describe.each(servers)('a database whose sessions begin with another setting, on $name', ({ url }) => {
  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('over %s', (kind) => {
    it.each(Object.keys(GROUPS))('migrates, runs and undoes as without it: %s', async (group) => {
      const database = await oddDatabase(url, group)
      const engine = await engineOn(kinds[kind](database.url))

      const [good, bad] = await engine.runMany(workflow, [{ key: 'good', tags: ['a'] }, {}])
      await good!.signal('go', TEXT)
      await bad!.signal('go', 'fail')

      expect(await good!.result()).toMatchObject({ plain: { text: TEXT, none: null }, end: TEXT })
      await expect(bad!.result()).rejects.toMatchObject({ code: 'run_failed' })
      const { createdAt, finishedAt, steps, key } = await good!.status()
      expect([key, await bad!.status()]).toMatchObject(['good', { status: 'compensated', key: undefined }])
      expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(60_000)
      expect(finishedAt!.getTime()).toBeGreaterThanOrEqual(createdAt.getTime())
      expect(steps.filter(({ name }) => name !== 'end').every(({ failures }) => failures === 0)).toBe(true)
      const { rows } = await database.pool.query('select key from ledger order by key')
      expect(rows).toHaveLength(2)
    })
  })

  it.each(
    Object.keys(GROUPS).flatMap((group) => [
      [group, 'from the beginning'],
      [group, 'after a transaction without it'],
    ]),
  )('starts runs in a transaction of such a session: %s, %s', async (group, since) => {
    const database = await createDatabase(url)
    onTestFinished(() => database.drop())
    const engine = await engineOn(postgres(database.url, { autoMigrate: true }))
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('create schema elsewhere; create table ledger (key text not null)')
    await client.query(HIDING_OPERATORS)
    if (since !== 'from the beginning') {
      await client.query('begin')
      await engine.run(child, {}, { tx: client })
      await client.query('commit')
    }
    for (const setting of GROUPS[group]!) await client.query(`set ${setting} = ${SETTINGS[setting]}`)
    const shown = async () => {
      const texts = GROUPS[group]!.map((setting) => `current_setting('${setting}')`)
      return (await client.query(`select array[${texts.join(', ')}] as settings`)).rows
    }
    const before = await shown()

    await client.query('begin read write')
    const run = await engine.run(workflow, {}, { tx: client })
    await run.signal('go', TEXT, { tx: client })
    const within = await shown()
    await client.query('commit')

    expect(await run.result()).toMatchObject({ end: TEXT })
    expect(within).toEqual(before)
    expect(await run.status()).toMatchObject({ key: undefined })
  })
})
