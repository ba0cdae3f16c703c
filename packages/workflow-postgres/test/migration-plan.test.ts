import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, postgres } from '../src/index.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { planMigration } from '../src/migrate/plan.ts'
import { describeCatalog } from './setup/catalog.ts'
import { connectionTo } from './setup/connection.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { INDEX, NEWEST, nextMigration } from './setup/next-release.ts'

const TAGS = MIGRATIONS.map(({ tag }) => tag)
const run = promisify(execFile)
const hasPsql = await run('psql', ['--version']).then(
  () => true,
  () => false,
)

describe.each(servers)('a dry run of migrate() on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  const schemas = async () => {
    const { rows } = await database.pool.query<{ name: string }>('select nspname as name from pg_namespace')
    return rows.map(({ name }) => name)
  }

  /** Runs a file as the docs tell people to. */
  async function psql(sql: string): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'belay-plan-'))
    const file = join(folder, 'migrate.sql')
    await writeFile(file, sql)
    await run('psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-f', file, database.url])
    await rm(folder, { recursive: true })
  }

  it('names what is pending, gives its SQL, and changes nothing', async () => {
    const plan = await migrate(database.url, { schema: 'planned', dryRun: true })

    expect(plan).toMatchObject({ applied: [], pending: TAGS, stopsOlderCode: [] })
    expect(plan.sql).toContain('CREATE TABLE "planned"."workflow_runs"')
    expect(plan.sql).not.toMatch(/"belay"|\bbelay\./)
    expect(await schemas()).not.toContain('planned')
  })

  it('finds nothing pending in a schema that is up to date', async () => {
    const { schema } = await createStore(database)

    expect(await migrate(database.pool, { schema, dryRun: true })).toEqual({
      applied: [],
      pending: [],
      stopsOlderCode: [],
      sql: '',
    })
  })

  it('gives only what a half-migrated schema lacks', async () => {
    await database.pool.query(
      MIGRATIONS.slice(0, 2)
        .map(({ sql }) => sql.replaceAll('"belay"', '"halfway"'))
        .join('\n'),
    )

    const plan = await migrate(database.pool, { schema: 'halfway', dryRun: true })

    expect(plan.pending).toEqual(TAGS.slice(2))
    expect(plan.stopsOlderCode).toEqual([TAGS[5]])
    // As psql sends it: what is no part of a transaction one by one, since an index is built concurrently.
    for (const part of plan.sql.split(/^(?=BEGIN;)|(?<=^COMMIT;)/m)) {
      const texts = part.startsWith('BEGIN;') ? [part] : part.split(/(?<=;)(?:-->.*)?$/m)
      for (const text of texts) await database.pool.query(text)
    }
    expect(await migrate(database.pool, { schema: 'halfway' })).toEqual({ applied: [] })
  })

  it.skipIf(!hasPsql)(
    'keeps out of a transaction what must not be part of one, and psql runs it',
    async () => {
      const { schema } = await createStore(database)
      const later = ['SELECT 1;', INDEX, 'SELECT 3;'].map((sql, index) =>
        nextMigration(NEWEST + 1 + index, sql),
      )

      const { sql, pending } = await planMigration(connectionTo(database, schema), schema, [
        ...MIGRATIONS,
        ...later,
      ])

      expect(pending).toHaveLength(3)
      expect(sql.match(/BEGIN;|COMMIT;|CONCURRENTLY/g)).toEqual([
        'BEGIN;',
        'COMMIT;',
        'CONCURRENTLY',
        'BEGIN;',
        'COMMIT;',
      ])
      await psql(sql)
      const { rows } = await database.pool.query(
        `select count(hash)::int as hashes from ${schema}.workflow_migrations`,
      )
      expect(rows).toEqual([{ hashes: MIGRATIONS.length + 3 }])
    },
  )

  it.skipIf(!hasPsql)('gives SQL that psql runs, and that makes what migrate() makes', async () => {
    const other = await createDatabase(url)
    await migrate(other.pool, { schema: 'by_hand' })
    const { sql } = await migrate(database.url, { schema: 'by_hand', dryRun: true })

    await psql(sql)

    const byMigrate = await describeCatalog(other.pool, 'by_hand')
    expect(await describeCatalog(database.pool, 'by_hand')).toBe(byMigrate)
    await other.drop()
  })

  it.skipIf(!hasPsql)('names a schema in its SQL so that it may have any name', async () => {
    const schema = 'Order-Flow_2'
    const { sql } = await migrate(database.url, { schema, dryRun: true })

    await psql(sql)

    const { rows } = await database.pool.query(
      `select tag, hash from "${schema}".workflow_migrations order by id`,
    )
    expect(rows).toEqual(MIGRATIONS.map(({ tag, hash }) => ({ tag, hash })))
    const adapter = postgres(database.url, { schema })
    await adapter.open()
    expect(await adapter.migrate()).toEqual({ applied: [] })
    await adapter.close()
  })
})
