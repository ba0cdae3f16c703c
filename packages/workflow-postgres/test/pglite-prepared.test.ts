import { createPglite } from '@belay/postgres-server'
import type { PGlite, PGliteInterface } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Statement } from '../src/connection/statement.ts'
import { pgliteConnection } from '../src/pglite/connection.ts'

interface Item {
  readonly id: number
}

const ADD: Statement<Item> = {
  name: 'add_item',
  text: 'insert into items (id) values ($1::int) returning id',
}
const LIST: Statement<Item> = { name: 'list_items', text: 'select * from items order by id' }
const DIVIDE: Statement<{ readonly share: number }> = {
  name: 'divide',
  text: 'select 12 / $1::int as share',
}

describe('prepared statements in PGlite', () => {
  let db: PGlite
  beforeAll(async () => {
    db = await createPglite()
  })
  afterAll(() => db.close())
  beforeEach(async () => {
    await db.exec('discard all')
    await db.exec('drop table if exists items; create table items (id int)')
  })

  const connect = (database: PGliteInterface = db) => pgliteConnection(() => database, 'belay')
  const prepared = async () => {
    const { rows } = await db.query<{ name: string; at: Date }>(
      `select name, prepare_time as at from pg_prepared_statements order by name`,
    )
    return rows
  }

  it('are parsed once, and unnamed ones are not kept', async () => {
    const connection = connect()
    await connection.query(DIVIDE, [3])
    const before = await prepared()

    await connection.query({ ...DIVIDE, name: null }, [3])
    await connection.transaction((own) => own.query(DIVIDE, [3]))

    expect(before.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^belay_divide_/),
      'belay_plan_settings',
    ])
    expect(await prepared()).toEqual(before)
  })

  it('take and give the same values as over pg', async () => {
    const long = 'λ'.repeat(10_000)
    const statement: Statement<Record<string, unknown>> = {
      name: 'values',
      text: `select $1::text as word, $2::int as whole, $3::float8 as real, $4::bool as yes, $5::text[] as words, $6::int[] as numbers,
        $7::bigint as big, $8::text as nothing, $9::jsonb as json, array[$4::bool, null] is null as never`,
    }

    const [row] = await connect().query(statement, [
      long,
      -7,
      0.5,
      true,
      ['plain', 'x'],
      [1, 2],
      '9007199254740993',
      null,
      '{"a": [1]}',
    ])

    expect(row).toEqual({
      word: long,
      whole: -7,
      real: 0.5,
      yes: true,
      words: ['plain', 'x'],
      numbers: [1, 2],
      big: '9007199254740993',
      nothing: null,
      json: '{"a": [1]}',
      never: false,
    })
    const list: Statement<{ word: string | null }> = {
      name: 'unnest',
      text: 'select * from unnest($1::text[]) as word',
    }
    const words = ['', 'null', 'a "quoted" \\ word', '{}', 'é, 漢字', null]
    expect((await connect().query(list, [words])).map(({ word }) => word)).toEqual(words)
  })

  it('run again after an error, alone and in a transaction', async () => {
    const connection = connect()
    const failure = { code: '22012', message: 'division by zero' }
    await expect(connection.query(DIVIDE, [0])).rejects.toMatchObject(failure)
    expect(await connection.query(DIVIDE, [4])).toEqual([{ share: 3 }])

    const doomed = connection.transaction(async (own) => {
      await own.query(ADD, [1])
      await own.query(DIVIDE, [0])
    })

    await expect(doomed).rejects.toMatchObject(failure)
    expect(await connection.query(LIST, [])).toEqual([])
    await connection.transaction((own) => own.query(ADD, [2]))
    expect(await connection.query(LIST, [])).toEqual([{ id: 2 }])
  })

  it('are prepared again when the application has discarded them', async () => {
    const connection = connect()
    await connection.query(ADD, [1])

    await db.exec('discard all')
    await connection.query(ADD, [2])
    await db.exec('deallocate all')
    await connection.transaction(async (own) => {
      await own.query(ADD, [3])
      await own.query(ADD, [4])
    })

    expect(await connection.query(LIST, [])).toEqual([1, 2, 3, 4].map((id) => ({ id })))
  })

  it('are prepared again when their columns have changed', async () => {
    const connection = connect()
    await connection.query(ADD, [1])
    await connection.query(LIST, [])

    await db.exec(`alter table items add column name text default 'new'`)
    expect(await connection.query(LIST, [])).toEqual([{ id: 1, name: 'new' }])
    await db.exec('alter table items drop column name')
    const listed = await connection.transaction(async (own) => {
      await own.query(ADD, [2])
      return own.query(LIST, [])
    })

    expect(listed).toEqual([{ id: 1 }, { id: 2 }])
    expect(await connection.query(LIST, [])).toEqual(listed)
  })

  it('stay out of a transaction that the application has open', async () => {
    const connection = connect()
    await connection.query(LIST, [])
    let own: Promise<unknown> | undefined

    const theirs = db.transaction(async (transaction) => {
      await transaction.query('insert into items (id) values (1)')
      own = connection.query(ADD, [2])
      await transaction.query('insert into items (id) values (3)')
      throw new Error('the application rolls back')
    })

    await expect(theirs).rejects.toThrow('rolls back')
    expect(await own).toEqual([{ id: 2 }])
    expect(await connection.query(LIST, [])).toEqual([{ id: 2 }])
  })

  it('leave the settings of the session as they are', async () => {
    const connection = connect()
    await connection.query(DIVIDE, [3])
    await connection.transaction((own) => own.query(DIVIDE, [3]))

    const { rows } = await db.query(
      `select current_setting('enable_seqscan') as scans, current_setting('plan_cache_mode') as plans`,
    )
    expect(rows).toEqual([{ scans: 'on', plans: 'auto' }])
  })

  it('are bounded: the one that was not used for longest is closed', async () => {
    const connection = connect()
    const numbers = Array.from({ length: 150 }, (_, number) => number)
    for (const number of numbers) {
      await connection.query({ name: `number_${number}`, text: `select ${number}::int as number` }, [])
      await connection.query(DIVIDE, [3])
    }

    const names = (await prepared()).map(({ name }) => name)
    expect(names).toHaveLength(120)
    expect(names).toContainEqual(expect.stringMatching(/^belay_divide_/))
    expect(names).toContainEqual(expect.stringMatching(/^belay_number_149_/))
    expect(names).not.toContainEqual(expect.stringMatching(/^belay_number_0_/))
    expect(await connection.query({ name: 'number_0', text: 'select 0::int as number' }, [])).toEqual([
      { number: 0 },
    ])
  })

  it('are shared by several objects for one database', async () => {
    const [first, second] = [connect(wrapped(db)), connect(wrapped(db))]
    for (const connection of [first, second, first]) {
      expect(await connection.query(DIVIDE, [6])).toEqual([{ share: 2 }])
    }
  })

  it('are not used where nobody can tell whether a transaction is open', async () => {
    const connection = connect(wrapped(db, ['isInTransaction']))

    expect(await connection.query(DIVIDE, [6])).toEqual([{ share: 2 }])
    expect(await connection.transaction((own) => own.query(DIVIDE, [6]))).toEqual([{ share: 2 }])

    expect(await prepared()).toEqual([])
  })
})

/** Another object for the same database, without some of its functions: as for one in another Web Worker. */
function wrapped(db: PGlite, without: readonly PropertyKey[] = []): PGlite {
  return new Proxy(db, {
    has: (target, name) => !without.includes(name) && Reflect.has(target, name),
    get(target, name) {
      if (without.includes(name)) return undefined
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
