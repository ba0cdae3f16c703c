import type { CallerTransaction } from '@belay/workflow'
import { createEngine, define, type Engine, type EngineOptions, unchecked } from '@belay/workflow'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate, type PostgresOptions, postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const fulfil = define('fulfil', { version: 1, input: unchecked<{ order: number }>() }).step('pack', {
  run: ({ input }) => `packed ${input.order}`,
})
const parcel = define('parcel', { version: 1, input: unchecked<{ order: number }>() }).waitForSignal(
  'shipped',
  {
    schema: unchecked<{ tracking: string }>(),
  },
)

describe.each(servers)('the first calls of a process, in callers’ transactions on $name', ({ url }) => {
  let database: TestDatabase
  const open: { end(): Promise<void> }[] = []

  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query('create table orders (id int)')
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool.query('truncate orders; drop schema if exists belay cascade')
    await migrate(database.url)
  })
  afterEach(async () => {
    for (const opened of open.splice(0).reverse()) await opened.end()
  })

  /** A freshly started process of an application, whose engine is not started. */
  function application(max: number, options: PostgresOptions & Partial<EngineOptions> = {}) {
    const { workflows = [], ...adapterOptions } = options
    const pool = new pg.Pool({ connectionString: database.url, max })
    const engine = createEngine({ adapter: postgres(pool, adapterOptions), workflows })
    open.push({ end: () => pool.end() }, { end: () => engine.close() })
    return { pool, engine }
  }

  /** The code that docs/transactions.md tells applications to write. */
  async function plainly<Result>(
    pool: pg.Pool,
    work: (tx: CallerTransaction) => Promise<Result>,
  ): Promise<Result> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('insert into orders values (1)')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }
  const withDrizzle = <Result>(
    pool: pg.Pool,
    work: (tx: CallerTransaction) => Promise<Result>,
  ): Promise<Result> =>
    drizzle(pool).transaction(async (tx) => {
      await tx.execute(sql`insert into orders values (1)`)
      return work(tx)
    })
  const kinds = { 'plain clients': plainly, drizzle: withDrizzle } as const

  const counts = async () => {
    const { rows } = await database.pool.query(
      `select (select count(*)::int from orders) as orders, (select count(*)::int from belay.workflow_runs) as runs`,
    )
    return rows[0]
  }
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
  const place = (engine: Engine, order: number) => (tx: CallerTransaction) =>
    engine.run(fulfil, { order }, { key: `order:${order}`, tx })

  it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
    'all succeed, though their transactions hold every connection of the pool (%s)',
    async (kind) => {
      for (const max of [10, 1]) {
        const { pool, engine } = application(max)

        const runs = await Promise.all(
          numbers(40).map((n) => kinds[kind](pool, place(engine, max * 1_000 + n))),
        )

        expect(runs.every(({ created }) => created)).toBe(true)
      }
      expect(await counts()).toEqual({ orders: 80, runs: 80 })
    },
  )

  it('send signals as well, and decide nothing twice', async () => {
    const starter = application(5)
    const runs = await starter.engine.runMany(
      parcel,
      numbers(40).map((order) => ({ input: { order } })),
    )
    for (const max of [10, 1]) {
      const { pool, engine } = application(max, { workflows: [parcel] })

      const receipts = await Promise.all(
        runs.map(({ id }) =>
          plainly(pool, (tx) => engine.signal(id, 'shipped', { tracking: 'T1' }, { key: 'hook', tx })),
        ),
      )

      const expected = max === 10 ? 'kept' : 'duplicate'
      expect(new Set(receipts.map(({ result }) => result))).toEqual(new Set([expected]))
    }
  })

  it('leave the workflow unknown when they are rolled back, so that the next ones store it', async () => {
    const { pool, engine } = application(1)
    const failing = plainly(pool, async (tx) => {
      await place(engine, 1)(tx)
      // The transaction's second call finds what the first one stored, and must not remember it either.
      await place(engine, 2)(tx)
      throw new Error('sold out')
    })
    await expect(failing).rejects.toThrow('sold out')
    expect((await pool.query('select from belay.workflow_definitions')).rowCount).toBe(0)

    await plainly(pool, place(engine, 1))

    expect(await counts()).toEqual({ orders: 1, runs: 1 })
  })

  it('wait only for an open transaction that stores the same workflow, and go on when it ends', async () => {
    const { pool, engine } = application(1)
    // The caller's own connections. The pool's only connection is taken, so nothing can be stored beside the transaction.
    const taken = await pool.connect()
    const [first, second, third] = await Promise.all(
      numbers(3).map(async () => {
        const client = new pg.Client({ connectionString: database.url })
        await client.connect()
        await client.query('begin')
        open.push(client)
        return client
      }),
    )
    await place(engine, 1)(first!)
    let isSecondStarted = false
    const starting = place(
      engine,
      2,
    )(second!).then(() => {
      isSecondStarted = true
    })

    // Another workflow, of another caller.
    await engine.run(parcel, { order: 3 }, { tx: third })
    await third!.query('commit')
    expect(isSecondStarted).toBe(false)
    await first!.query('rollback')
    await starting
    await second!.query('commit')

    expect(await counts()).toEqual({ orders: 0, runs: 2 })
    taken.release()
  })

  it('ask for a repetition under a stricter isolation, even if no connection is free to look beside', async () => {
    const { pool, engine } = application(1)
    const strict = (work: () => Promise<unknown>) =>
      drizzle(pool).transaction(
        async (tx) => {
          await tx.execute(sql`insert into orders values (1)`)
          await work()
          return place(engine, 1)(tx)
        },
        { isolationLevel: 'repeatable read' },
      )
    const other = createEngine({ adapter: postgres(database.url) })
    open.push({ end: () => other.close() })

    const late = strict(() => other.run(fulfil, { order: 9 }))
    await expect(late).rejects.toMatchObject({ code: '40001' })
    await strict(async () => {})

    expect(await counts()).toEqual({ orders: 1, runs: 2 })
  })

  it('say what to do when the schema is missing, after a bounded wait', async () => {
    await database.pool.query('drop schema belay cascade')
    const told = application(1, { queryTimeoutMs: 300 })
    await expect(plainly(told.pool, place(told.engine, 1))).rejects.toMatchObject({
      message: expect.stringMatching(/no tables of Belay's in schema "belay".*Start the engine/),
    })

    const roomy = application(2, { listen: false })
    await expect(plainly(roomy.pool, place(roomy.engine, 1))).rejects.toMatchObject({
      code: 'schema_missing',
    })
    const migrating = application(2, { autoMigrate: true, listen: false })
    await plainly(migrating.pool, place(migrating.engine, 1))

    expect(await counts()).toEqual({ orders: 1, runs: 1 })
  })
})
