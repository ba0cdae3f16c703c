import type { BelayError, StoreNotice } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate, type PostgresAdapter, postgres } from '../src/index.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { NEWEST, nextMigration } from './setup/next-release.ts'

describe.each(servers)('code older than its schema, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** A schema that later releases have migrated. Each number is the oldest code that one of their migrations allows. */
  async function migratedLater(...oldestCodes: readonly (number | null)[]): Promise<string> {
    const { schema } = await createStore(database)
    for (const [index, oldest] of oldestCodes.entries()) {
      const { tag } = nextMigration(NEWEST + 1 + index, '')
      await database.pool.query(
        `insert into ${schema}.workflow_migrations (tag, oldest_code) values ('${tag}', ${oldest})`,
      )
    }
    return schema
  }

  const adapterOn = (schema: string): PostgresAdapter => {
    const adapter = postgres(database.pool, { schema })
    database.stores.push(adapter)
    return adapter
  }

  const refusal = (promise: Promise<unknown>): Promise<BelayError> =>
    promise.then(
      () => expect.fail('was expected to be refused'),
      (error: BelayError) => error,
    )

  it('opens when every later migration allows it, and says so once', async () => {
    const adapter = adapterOn(await migratedLater(NEWEST, NEWEST - 1))
    const notices: StoreNotice[] = []
    adapter.onNotice?.((notice) => notices.push(notice))

    await adapter.open()
    await adapter.open()

    expect(await adapter.listRuns({ limit: 1 })).toEqual([])
    expect(notices).toMatchObject([{ level: 'info', code: 'schema_newer' }])
    expect(notices[0]!.message).toContain(nextMigration(NEWEST + 2, '').tag)
  })

  it('leaves such a schema unchanged when it migrates, in a deployment step or on its own', async () => {
    const schema = await migratedLater(NEWEST)

    expect(await migrate(database.pool, { schema })).toEqual({ applied: [] })
    expect(await migrate(database.pool, { schema, dryRun: true })).toEqual({
      applied: [],
      pending: [],
      stopsOlderCode: [],
      sql: '',
    })
    const adapter = postgres(database.pool, { schema, autoMigrate: true })
    database.stores.push(adapter)
    await adapter.open()
    expect(await adapter.listRuns({ limit: 1 })).toEqual([])
  })

  it('says nothing on a schema of its own age', async () => {
    const adapter = adapterOn(await migratedLater())
    const notices: StoreNotice[] = []
    adapter.onNotice?.((notice) => notices.push(notice))

    await adapter.open()

    expect(notices).toEqual([])
  })

  it.each([
    ['one later migration needs newer code', [NEWEST, NEWEST + 1], NEWEST + 1],
    ['the first of them does', [NEWEST + 1, NEWEST], NEWEST + 1],
    ['one of them has no such number, as before the rule existed', [NEWEST, null, NEWEST], NEWEST + 2],
  ] as const)('is refused when %s, and told what to update to', async (_, oldestCodes, needed) => {
    const schema = await migratedLater(...oldestCodes)

    for (const attempt of [
      () => adapterOn(schema).open(),
      () => migrate(database.pool, { schema }),
      () => migrate(database.pool, { schema, dryRun: true }),
    ]) {
      const error = await refusal(attempt())
      expect(error).toMatchObject({ code: 'schema_too_new' })
      expect(error.message).toContain(`a version that has migration ${nextMigration(needed, '').tag}.`)
    }
  })

  it('is refused if a migration that it knows was edited, even if the later ones allow it', async () => {
    const schema = await migratedLater(NEWEST)
    await database.pool.query(`update ${schema}.workflow_migrations set hash = 'other' where id = 1`)

    expect(await refusal(adapterOn(schema).open())).toMatchObject({ code: 'store_misconfigured' })
  })

  it('reads a schema from before the rule existed', async () => {
    const old = await createDatabase(url)
    for (const { sql } of MIGRATIONS.slice(0, 5)) await old.pool.query(sql)
    const adapter = postgres(old.pool)
    old.stores.push(adapter)

    expect(await refusal(adapter.open())).toMatchObject({ code: 'schema_outdated' })
    expect(await migrate(old.pool, { dryRun: true })).toMatchObject({
      pending: MIGRATIONS.slice(5).map(({ tag }) => tag),
    })
    await adapter.migrate()
    await adapter.open()

    await old.drop()
  })
})
