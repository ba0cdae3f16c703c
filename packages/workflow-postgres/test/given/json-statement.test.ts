import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { inSchema } from '../../src/connection/statement.ts'
import { jsonStatement } from '../../src/given/json-statement.ts'
import { createDatabase, createStore, servers, type TestDatabase } from '../setup/database.ts'
import { exportedStatements } from '../setup/statements.ts'

/** The types that every driver, JSON and PGlite give as the same values. */
const SAFE_TYPES = [
  'boolean',
  'integer',
  'double precision',
  'text',
  'uuid',
  'boolean[]',
  'integer[]',
  'text[]',
  'bigint[]',
  'double precision[]',
  'uuid[]',
]

describe.each(servers)('a statement rewritten to texts and JSON on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** A client that is given back however the test ends. */
  async function lent(): Promise<pg.PoolClient> {
    const client = await database.pool.connect()
    onTestFinished(() => client.release(true))
    return client
  }

  it('is accepted by the server, whichever of Belay’s statements it is, with texts as its only parameters', async () => {
    const { schema } = await createStore(database)
    const client = await lent()

    const wrong: string[] = []
    for (const { name, text } of await exportedStatements()) {
      await client
        .query(`prepare json_${name} as ${jsonStatement(inSchema(text, schema))}`)
        .catch((error: Error) => wrong.push(`${name}: ${error.message}`))
    }

    expect(wrong).toEqual([])
    const { rows } = await client.query(
      `select name from pg_prepared_statements p where exists (select from unnest(p.parameter_types) t where t <> 'text'::regtype)`,
    )
    expect(rows).toEqual([])
  })

  it('returns only columns whose types JSON keeps', async ({ skip }) => {
    const { schema } = await createStore(database)
    const client = await lent()
    const { rows: versions } = await client.query(
      `select current_setting('server_version_num')::int as version`,
    )
    skip(versions[0].version < 160_000, 'the server does not tell the types of results before version 16')
    for (const { name, text } of await exportedStatements()) {
      await client.query(`prepare plain_${name} as ${inSchema(text, schema)}`)
    }

    const { rows } = await client.query(
      `select name, t::text as type from pg_prepared_statements p, unnest(p.result_types) t
      where name like 'plain_%' and t <> all ($1::regtype[])`,
      [SAFE_TYPES],
    )

    expect(rows).toEqual([])
  })
})

describe('a statement rewritten to texts and JSON', () => {
  it.each([
    ['select $1::int as one', 'with belay_rows as (\nselect $1::text::int as one\n)'],
    [
      'with a as (select 1)\n-- why: select, $2\nselect * from a',
      `with a as (select 1)\n-- why: select, $2\n, belay_rows as (\nselect * from a\n)`,
    ],
    [
      `insert into t values ('a '' select $1', "b)") returning id`,
      `with belay_rows as (\ninsert into t values ('a '' select $1', "b)") returning id\n)`,
    ],
  ])('keeps what is quoted or a comment: %s', (text, expected) => {
    expect(jsonStatement(text)).toBe(
      `${expected}\nselect pg_catalog.to_json(belay_row)::text as belay from belay_rows as belay_row`,
    )
  })

  it('stays a plain statement if it returns no rows', () => {
    expect(jsonStatement('update t set a = $1::int')).toBe('update t set a = $1::text::int')
  })
})
