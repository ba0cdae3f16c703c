import { readFile } from 'node:fs/promises'
import type { BelayError } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { embeddedMigrations } from '../scripts/embed-migrations.mjs'
import { migrate, postgres } from '../src/index.ts'
import { statementsOf } from '../src/migrate/migration.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { describeCatalog } from './setup/catalog.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const TAGS = MIGRATIONS.map(({ tag }) => tag)

describe('the migrations', () => {
  it('are in the package as they are in the folder (else run pnpm db:generate)', async () => {
    const generated = await readFile(
      new URL('../src/migrate/migrations.generated.ts', import.meta.url),
      'utf8',
    )
    expect(generated).toBe(await embeddedMigrations())
  })

  it('of the new engine are in the package too', async () => {
    const generated = await readFile(new URL('../src/tables/baseline.generated.ts', import.meta.url), 'utf8')
    expect(generated).toBe(await embeddedMigrations('baseline'))
  })

  it('each record themselves, so that running the files by hand counts', () => {
    const all = MIGRATIONS.map(({ sql }) => sql).join('\n')
    for (const tag of TAGS) expect(all).toMatch(new RegExp(`\\('${tag}'(, \\d+)?\\)`))
  })
})

describe.each(servers)('migrating on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const rejection = (promise: Promise<unknown>): Promise<BelayError> =>
    promise.then(
      () => expect.fail('was expected to be rejected'),
      (error: BelayError) => error,
    )

  it('makes the schema that is under review (test/schema.snapshot.txt)', async () => {
    await migrate(database.pool, { schema: 'reviewed' })
    const catalog = await describeCatalog(database.pool, 'reviewed')
    await expect(catalog).toMatchFileSnapshot('schema.snapshot.txt')
  })

  it('is safe when ten processes do it at once, and done once', async () => {
    const reports = await Promise.all(
      Array.from({ length: 10 }, () => migrate(database.url, { schema: 'crowded' })),
    )

    // Migrations outside a transaction come apart from those before: another process may be the one that applies them.
    expect(reports.flatMap((report) => report.applied).toSorted()).toEqual(TAGS)
    const { rows } = await database.pool.query(
      'select tag, hash from crowded.workflow_migrations order by id',
    )
    expect(rows).toEqual(MIGRATIONS.map(({ tag, hash }) => ({ tag, hash })))
  })

  it('counts what was run by hand', async () => {
    const byHand = await createDatabase(url)
    for (const text of MIGRATIONS.flatMap(statementsOf)) await byHand.pool.query(text)

    const adapter = postgres(byHand.url)
    await adapter.open()
    expect(await adapter.migrate()).toEqual({ applied: [] })

    await adapter.close()
    await byHand.drop()
  })

  it('leaves nothing behind when it fails', async () => {
    await database.pool.query('create schema taken; create table taken.workflow_runs (id int)')

    const error = await rejection(migrate(database.pool, { schema: 'taken' }))

    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain('workflow_runs')
    const { rows } = await database.pool.query(
      `select relname from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'taken' and relkind = 'r'`,
    )
    expect(rows).toEqual([{ relname: 'workflow_runs' }])
  })

  it('is asked for when the schema is missing', async () => {
    const adapter = postgres(database.pool, { schema: 'nowhere' })

    const error = await rejection(adapter.open())

    expect(error).toMatchObject({ code: 'schema_missing' })
    expect(error.message).toMatch(/"nowhere".*dev: true.*autoMigrate: true.*migrate\(url\)/)
    await adapter.migrate()
    await adapter.open()
    expect(await adapter.now()).toBeGreaterThan(0)
  })

  it('is asked for when the schema is older than the code, and catches up', async () => {
    await database.pool.query(MIGRATIONS[0]!.sql.replaceAll('"belay"', 'older'))
    await database.pool.query(
      `create table older.workflow_migrations (id int generated always as identity, tag text, hash text);
       insert into older.workflow_migrations (tag) values ('${TAGS[0]}')`,
    )

    const error = await rejection(postgres(database.pool, { schema: 'older' }).open())

    expect(error).toMatchObject({ code: 'schema_outdated' })
    expect(error.message).toContain(TAGS.at(-1))
    expect(error.message).toContain('migrate(url)')
  })

  it('lets a retried approval of an older schema take its key again, and knows which steps are approvals', async () => {
    const old = await createDatabase(url)
    for (const { tag, sql } of MIGRATIONS) if (tag < '0005') await old.pool.query(sql)
    const [retried, waiting] = ['0'.repeat(31) + 1, '0'.repeat(31) + 2]
    await old.pool.query(`
insert into belay.workflow_definitions (version, created_at, name, checksum, shape)
  values (1, now(), 'w', '', '{"steps":[{"name":"a","dependsOn":[]},{"name":"b","dependsOn":[],"kind":"approval"}]}');
insert into belay.workflow_definition_steps (definition_id, step, name, dependencies, dependents)
  select id, n, chr(97 + n), '{}', '{}' from belay.workflow_definitions, generate_series(0, 1) n;
insert into belay.workflow_steps (run_id, step, open_dependencies, attempt, waiting_since, status, signalled_at) values
  ('${retried}', 1, 0, 3, now(), 'waiting', null), ('${waiting}', 1, 1, 0, null, 'pending', now());
insert into belay.workflow_signals (run_id, step, received_at, key) values
  ('${retried}', 1, now(), 'k'), ('${waiting}', 1, now(), 'k');
insert into belay.workflow_history (run_id, at, action) values ('${retried}', now(), 'retry'), ('${waiting}', now(), 'pause')`)

    await migrate(old.pool)

    const { rows } = await old.pool.query('select superseded from belay.workflow_signals order by run_id')
    expect(rows).toEqual([{ superseded: 1 }, { superseded: 0 }])
    const { rows: steps } = await old.pool.query(
      'select name, kind from belay.workflow_definition_steps order by step',
    )
    expect(steps).toEqual([
      { name: 'a', kind: null },
      { name: 'b', kind: 'approval' },
    ])
    await old.drop()
  })

  it('is refused when the schema is newer than the code', async () => {
    await migrate(database.pool, { schema: 'newer' })
    await database.pool.query(`insert into newer.workflow_migrations (tag) values ('9999_tomorrow')`)

    for (const attempt of [() => migrate(database.pool, { schema: 'newer' }), () => open('newer')]) {
      const error = await rejection(attempt())
      expect(error).toMatchObject({ code: 'schema_too_new' })
      expect(error.message).toContain('9999_tomorrow')
    }
  })

  it('is refused when an applied migration was edited', async () => {
    await migrate(database.pool, { schema: 'edited' })
    await database.pool.query(`update edited.workflow_migrations set hash = 'other' where id = 1`)

    const error = await rejection(open('edited'))

    expect(error).toMatchObject({ code: 'store_misconfigured' })
    expect(error.message).toContain(TAGS[0])
  })

  it('happens by itself with autoMigrate', async () => {
    const adapter = postgres(database.url, { schema: 'by-itself', autoMigrate: true })
    await adapter.open()
    expect(await adapter.listRuns({ limit: 1 })).toEqual([])
    await adapter.close()
  })

  function open(schema: string): Promise<void> {
    return postgres(database.pool, { schema }).open()
  }
})
