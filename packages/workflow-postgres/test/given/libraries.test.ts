import { type CallerTransaction, createEngine, define, type Engine, unchecked } from '@belay/workflow'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresAdapter, postgres } from '../../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from '../setup/database.ts'
import { LIBRARIES, type Library, type Within } from './libraries.ts'

const fulfil = define('fulfil', { version: 1, input: unchecked<unknown>() }).step('pack', {
  run: ({ input }) => input,
})
const parcel = define('parcel', { version: 1 })
  .waitForSignal('shipped', { schema: unchecked<unknown>() })
  .approval('refund')

/** Each is an input, a tag, a signal, and a key if it is a text. */
const HOSTILE: readonly unknown[] = [
  '',
  "it's 'quoted' \"twice\" `thrice`",
  '$1 $2::text #{x} ? ?? ?| :name @p1 %s %L',
  "'; drop table orders; --",
  'back\\slash \\x00 \\u0000 \\"',
  '{"a":1}',
  '{a,NULL,"b"}',
  'null',
  'NULL',
  'true',
  '12345678901234567890',
  '2026-01-01T00:00:00.000Z',
  '01890a5d-ac96-774b-bcce-b302099a8057',
  'line\nbreak\ttab\r\u0001',
  '💥 日本 ‮',
  null,
  true,
  -0.1,
  1e300,
  9007199254740991,
  [],
  [[], [null, 'NULL', '{}', '"', ','], { a: [1] }],
  { __belay: 'to_json', belay: null, $1: '?', 'a.b': { "c'd": '"' } },
]

const server = servers[0]!

describe.each(Object.entries(LIBRARIES))('a transaction of %s', (_name, open) => {
  let database: TestDatabase
  let library: Library
  let store: PostgresAdapter
  let engine: Engine

  beforeAll(async () => {
    database = await createDatabase(server.url)
    await database.pool.query('create table orders (id int primary key)')
    library = open(database.url)
  })
  afterAll(async () => {
    await library.close()
    await database.drop()
  })
  beforeEach(async () => {
    store = await createStore(database)
    engine = createEngine({ adapter: store, workflows: [fulfil, parcel] })
  })
  afterEach(async () => {
    await engine.close()
    await database.pool.query('delete from orders')
  })

  const ordered = async () =>
    (await database.pool.query('select id from orders order by id')).rows.map(({ id }) => id)
  const keys = async () => (await engine.runs.list()).map(({ key }) => key).sort()

  it('commits a run with the caller’s rows, and rolls it back with them', async () => {
    await engine.start()
    const place = (within: Within, id: number) =>
      within.insert(id).then(() => engine.run(fulfil, { id }, { key: `order:${id}`, tx: within.tx }))

    const rolledBack = library.begin(async (within) => {
      const run = await place(within, 1)
      expect(run.created).toBe(true)
      throw new Error('sold out')
    })
    await expect(rolledBack).rejects.toThrow('sold out')
    expect([await ordered(), await keys()]).toEqual([[], []])

    const run = await library.begin(async (within) => {
      const placed = await place(within, 1)
      // Another connection sees nothing of it yet.
      expect([await ordered(), await keys()]).toEqual([[], []])
      await within.insert(2)
      return placed
    })
    expect([await ordered(), await keys()]).toEqual([[1, 2], ['order:1']])
    expect(await run.result()).toEqual({ pack: { id: 1 } })
  })

  it('stores every value as a call without a transaction does', async () => {
    const plain = await Promise.all(
      HOSTILE.map((input, n) => engine.run(fulfil, input, optionsOf(input, n, 'plain'))),
    )

    const within = await library.begin(({ tx }) =>
      inTurn(HOSTILE, (input, n) => engine.run(fulfil, input, { ...optionsOf(input, n, 'within'), tx })),
    )

    const seen = async ({ id }: { readonly id: string }) => {
      const { input, key, tags } = (await engine.runs.get(id))!
      return { input, key: key?.replace(/^\w+:/, ''), tags }
    }
    expect(await Promise.all(within.map(seen))).toEqual(await Promise.all(plain.map(seen)))
    expect((await seen(within[2]!)).input).toBe(HOSTILE[2])
    const [found] = await engine.runs.list({ key: `within:${HOSTILE[1]}` })
    expect(found?.id).toBe(within[1]!.id)
  })

  it('refuses what cannot be stored before it writes anything', async () => {
    await library.begin(async ({ tx, insert }) => {
      for (const wrong of ['a\0b', 10n, { at: 10n }]) {
        await expect(engine.run(fulfil, wrong, { tx })).rejects.toMatchObject({ code: expect.any(String) })
      }
      await expect(engine.run(fulfil, 1, { key: 'a\0b', tx })).rejects.toMatchObject({
        code: 'invalid_option',
      })
      await insert(3)
    })

    expect([await ordered(), await keys()]).toEqual([[3], []])
  })

  it('starts many runs, and finds those whose keys are taken', async () => {
    await engine.run(fulfil, 'before', { key: 'k:3' })

    const runs = await library.begin(({ tx }) =>
      engine.runMany(
        fulfil,
        [1, 2, 3, 4].map((n) => ({ input: 'before', key: `k:${n}`, tags: [`n:${n}`] })),
        { tx },
      ),
    )

    expect(runs.map(({ created }) => created)).toEqual([true, true, false, true])
    expect(await keys()).toEqual(['k:1', 'k:2', 'k:3', 'k:4'])
  })

  it('signals, approves and controls runs', async () => {
    await engine.start()
    const waiting = async () => {
      const run = await engine.run(parcel)
      await expect.poll(async () => (await run.status()).status).toBe('waiting')
      return run
    }
    const [run, paused, cancelled] = [await waiting(), await waiting(), await waiting()]
    const act = (fails: boolean) =>
      library.begin(async ({ tx }) => {
        await run.signal('shipped', HOSTILE, { key: 'hook', tx })
        await run.approve('refund', { by: "ann o'neill", comment: '$1 ?', tx })
        expect(await paused.pause({ by: 'ann', reason: '? $1', tx })).toBe(true)
        expect(await cancelled.cancel({ tx })).toBe(true)
        if (fails) throw new Error('rolled back')
      })

    await expect(act(true)).rejects.toThrow('rolled back')
    expect(await paused.status()).toMatchObject({ status: 'waiting' })
    await act(false)

    expect(await run.result()).toMatchObject({
      shipped: HOSTILE,
      refund: { approved: true, by: "ann o'neill" },
    })
    expect(await paused.status()).toMatchObject({ status: 'paused' })
    await expect.poll(async () => (await cancelled.status()).status).toBe('cancelled')
  })

  it('is refused in another database, or in one without Belay, and stays usable', async () => {
    const [foreign, empty] = [await createDatabase(server.url), await createDatabase(server.url)]
    await postgres(foreign.pool, { schema: store.schema }).migrate()

    for (const [elsewhere, words] of [
      [foreign, /belongs to another database/],
      [empty, /there is no schema "belay_\w+" of Belay's in it/],
    ] as const) {
      await elsewhere.pool.query('create table orders (id int primary key)')
      const other = open(elsewhere.url)
      await other.begin(async ({ tx, insert }) => {
        await expect(engine.run(fulfil, 1, { tx })).rejects.toThrow(words)
        await insert(1)
      })
      expect((await elsewhere.pool.query('select id from orders')).rows).toEqual([{ id: 1 }])
      await other.close()
      await elsewhere.drop()
    }
  })

  it('is taken before the adapter was opened', async () => {
    const adapter = postgres(database.pool, { schema: store.schema })
    const unopened = createEngine({ adapter })

    await library.begin(({ tx }) => unopened.run(fulfil, 1, { key: 'first', tx }))

    expect(await keys()).toEqual(['first'])
    await unopened.close()
  })

  it('keeps its session: no prepared statement of Belay’s, no setting', async () => {
    await library.begin(async ({ tx, query }) => {
      const settings = async () =>
        (await query('select name, setting from pg_settings order by name')).map(
          (row) => `${row['name']}=${row['setting']}`,
        )
      const before = await settings()
      await engine.run(fulfil, 1, { tx })
      expect(await settings()).toEqual(before)
      const prepared = await query(
        `select name from pg_prepared_statements where statement like '%belay%' and statement not like '%pg_prepared%'`,
      )
      expect(prepared).toEqual([])
    })
  })

  it('is refused if it is none, or has failed', async () => {
    for (const [given, words] of library.unsuitable) {
      await expect(engine.run(fulfil, 1, { tx: given as CallerTransaction })).rejects.toThrow(words)
    }
    const failed = library.begin(async ({ tx, query }) => {
      await expect(query('select 1/0')).rejects.toThrow()
      await expect(engine.run(fulfil, 1, { tx })).rejects.toThrow(
        /a statement has failed: it can only be rolled back/,
      )
      throw new Error('over')
    })
    await expect(failed).rejects.toThrow()
    let ended: CallerTransaction | undefined
    await library.begin(async ({ tx }) => {
      ended = tx
    })
    await expect(engine.run(fulfil, 1, { tx: ended! })).rejects.toMatchObject({ code: 'invalid_option' })

    expect(await keys()).toEqual([])
  })
})

describe('in a library’s transaction', () => {
  let database: TestDatabase
  let store: PostgresAdapter
  let engine: Engine

  beforeAll(async () => {
    database = await createDatabase(server.url)
    await database.pool.query('create table orders (id int)')
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    store = await createStore(database)
    engine = createEngine({ adapter: store, workflows: [fulfil] })
  })
  afterEach(() => engine.close())

  const opened = (name: string) => {
    const library = LIBRARIES[name]!(database.url)
    onTestFinished(async () => void (await library.close()))
    return library
  }

  it.each([
    'postgres.js',
    'Kysely',
    'Knex',
    'Prisma',
    'the EntityManager of TypeORM',
    'an object with query()',
  ])('a conflict is thrown as the library reports it (%s)', async (name) => {
    await store.saveDefinitions([fulfil.record])
    let failure: unknown

    const conflicting = opened(name).begin(async ({ tx, query }) => {
      await query('set transaction isolation level repeatable read')
      await query('select 1')
      await engine.run(fulfil, 1, { key: 'k' })
      await engine.run(fulfil, 1, { key: 'k', tx }).catch((error: unknown) => {
        failure = error
      })
      throw new Error('the application repeats it')
    })

    await expect(conflicting).rejects.toThrow()
    const ofPrisma = { code: 'P2010', message: expect.stringContaining('Code: `40001`') }
    expect(failure).toMatchObject(name === 'Prisma' ? ofPrisma : { code: '40001' })
  })

  it.each(['postgres.js', 'Kysely'])(
    'a batch that cannot be stored as a whole is undone alone (%s)',
    async (name) => {
      const [definition] = await store.saveDefinitions([fulfil.record])
      const large = JSON.stringify('x'.repeat(9 * 1024 * 1024))
      const run = (n: number, definitionId = definition!.id) => ({
        runId: `01920000-0000-7000-8000-00000000000${n}`,
        definitionId,
        workflow: 'fulfil',
        key: `batch:${n}`,
        input: n === 3 ? '3' : large,
      })

      await opened(name).begin(async ({ tx, insert }) => {
        // Too large for one statement, so it becomes two.
        const batch = [run(1), run(2, definition!.id + 1_000)]
        await expect(store.startRuns(batch, { tx })).rejects.toMatchObject({ code: 'unknown_workflow' })
        await store.startRuns([run(3)], { tx })
        await insert(4)
      })

      expect((await database.pool.query('select id from orders where id = 4')).rowCount).toBe(1)
      expect((await engine.runs.list()).map(({ key }) => key)).toEqual(['batch:3'])
      await database.pool.query('delete from orders')
    },
  )
})

function optionsOf(input: unknown, n: number, prefix: string) {
  const text = typeof input === 'string' ? input : `${n}`
  return { key: `${prefix}:${text}`, tags: text === '' ? [] : [text, '$1'] }
}

async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) results.push(await work(item, index))
  return results
}
