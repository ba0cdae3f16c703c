import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

describe.each(servers)('a migration by a role without the right to create schemas, on $name', ({ url }) => {
  const role = `migrator_${randomBytes(6).toString('hex')}`
  let database: TestDatabase
  let asRole: string
  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query(`create role ${role} login`)
    asRole = database.url.replace('postgres@', `${role}@`)
  })
  afterAll(async () => {
    await database.pool.query(`drop owned by ${role} cascade; drop role ${role}`)
    await database.drop()
  })

  const refused = (what: string, remedy: string) => ({
    code: 'store_misconfigured',
    message: expect.stringContaining(what),
    remedy: expect.stringContaining(remedy),
  })

  it('fills a schema that an administrator has made, and plans no other', async () => {
    await database.pool.query(`create schema made; grant usage, create on schema made to ${role}`)

    const { sql } = await migrate(asRole, { schema: 'made', dryRun: true })
    const { applied } = await migrate(asRole, { schema: 'made' })

    expect(sql).not.toContain('CREATE SCHEMA')
    expect(applied.length).toBeGreaterThan(10)
    expect(await migrate(asRole, { schema: 'made' })).toEqual({ applied: [] })
  })

  it('names the grant that makes the schema', async () => {
    const { pathname } = new URL(database.url)

    await expect(migrate(asRole, { schema: 'absent' })).rejects.toMatchObject(
      refused('may not create schemas', `grant create on database "${pathname.slice(1)}" to "${role}"`),
    )
    expect((await migrate(asRole, { schema: 'absent', dryRun: true })).sql).toContain('CREATE SCHEMA')
  })

  it('names the grant for a schema in which it may create nothing', async () => {
    await database.pool.query('create schema closed')

    await expect(migrate(asRole, { schema: 'closed' })).rejects.toMatchObject(
      refused('may not create tables in it', `grant usage, create on schema "closed" to "${role}"`),
    )
  })

  it('names the owner of tables that it may not change', async () => {
    await migrate(database.url, { schema: 'owned' })
    await database.pool.query(`
      delete from owned.workflow_migrations where id > 5;
      grant usage, create on schema owned to ${role};
      grant all on all tables in schema owned to ${role}`)

    await expect(migrate(asRole, { schema: 'owned', evenIfWorkersRun: true })).rejects.toMatchObject(
      refused('belong to user "postgres"', `grant "postgres" to "${role}"`),
    )
  })
})
