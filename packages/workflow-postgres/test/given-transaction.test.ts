import { createPglite } from '@belay/postgres-server'
import { type CallerTransaction, createEngine, define, unchecked } from '@belay/workflow'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const fulfil = define('fulfil', { version: 1, input: unchecked<{ order: number }>() }).step('pack', {
  run: ({ input }) => `packed ${input.order}`,
})
const orders = pgTable('orders', { id: integer('id').primaryKey() })
const CREATE_ORDERS = 'create table orders (id int primary key)'

describe.each(servers)('a run started in the caller’s transaction on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let engine: ReturnType<typeof createEngine>

  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query(CREATE_ORDERS)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    store = await createStore(database)
    engine = createEngine({ adapter: store, workflows: [fulfil] })
  })
  afterEach(async () => {
    await engine.close()
    await database.pool.query('delete from orders')
  })

  const ordered = async () => (await database.pool.query('select id from orders order by id')).rows
  const started = async () =>
    (await store.listRuns({ limit: 10 })).map(({ input }) => JSON.parse(input!).order)

  /** Opens a transaction of each kind, and passes on what the engine gets. */
  const kinds: Record<
    string,
    (work: (tx: CallerTransaction, id: number) => Promise<unknown>) => Promise<unknown>
  > = {
    'a pg client of a pool': async (work) => {
      const client = await database.pool.connect()
      try {
        await client.query('begin')
        await client.query('insert into orders values (1)')
        await work(client, 1)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
    'a pg client of its own': async (work) => {
      const client = new pg.Client({ connectionString: database.url })
      await client.connect()
      try {
        await client.query('begin isolation level serializable')
        await client.query('insert into orders values (1)')
        await work(client, 1)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        await client.end()
      }
    },
    'a drizzle transaction': (work) =>
      drizzle(database.pool).transaction(async (tx) => {
        await tx.insert(orders).values({ id: 1 })
        await work(tx, 1)
      }),
    'a drizzle transaction in another': (work) =>
      drizzle(database.pool).transaction((outer) =>
        outer.transaction(async (tx) => {
          await tx.insert(orders).values({ id: 1 })
          await work(tx, 1)
        }),
      ),
    'drizzle over a client in a transaction': async (work) => {
      const client = await database.pool.connect()
      const db = drizzle(client)
      try {
        await db.execute(sql`begin`)
        await db.insert(orders).values({ id: 1 })
        await work(db, 1)
        await db.execute(sql`commit`)
      } catch (error) {
        await db.execute(sql`rollback`)
        throw error
      } finally {
        client.release()
      }
    },
  }

  it.each(Object.entries(kinds))(
    'of %s commits with the caller’s rows, or rolls back with them',
    async (_kind, begin) => {
      await engine.start()
      let runId: string | undefined

      const rolledBack = begin(async (tx, order) => {
        await engine.run(fulfil, { order }, { key: `order:${order}`, tx })
        throw new Error('sold out')
      })
      await expect(rolledBack).rejects.toThrow('sold out')
      expect([await ordered(), await started()]).toEqual([[], []])

      await begin(async (tx, order) => {
        const run = await engine.run(fulfil, { order }, { key: `order:${order}`, tx })
        expect(run.created).toBe(true)
        runId = run.id
      })
      expect([await ordered(), await started()]).toEqual([[{ id: 1 }], [1]])
      expect(await engine.runs.handle(runId!).result()).toEqual({ pack: 'packed 1' })
    },
  )

  it('wakes other processes when the transaction commits, and not before', async () => {
    const [definition] = await store.saveDefinitions([fulfil.record])
    const other = postgres(database.url, { schema: store.schema })
    await other.open()
    const knock = 0
    const sentLater = definition!.id + 1_000
    const hints: number[] = []
    const heard = new Promise<void>((resolve) => {
      other.onWake((hint) => {
        hints.push(...(hint?.definitionIds ?? []).filter((id) => id !== knock))
        resolve()
      })
    })
    // Until the listener listens.
    const knocking = setInterval(() => store.wake([knock]), 10)
    await heard
    clearInterval(knocking)

    await drizzle(database.pool).transaction(async (tx) => {
      await engine.run(fulfil, { order: 1 }, { tx })
      store.wake([sentLater])
      await expect.poll(() => hints).toEqual([sentLater])
    })

    await expect.poll(() => hints).toEqual([sentLater, definition!.id])
    await other.close()
  })

  it('may be signalled in a transaction too, and goes on when that commits', async () => {
    const parcel = define('parcel', { version: 1 }).waitForSignal('shipped', {
      schema: unchecked<{ tracking: string }>(),
    })
    const worker = createEngine({ adapter: store, workflows: [parcel] })
    await worker.start()
    const ship = (runId: string, outcome: 'commit' | 'roll back') =>
      drizzle(database.pool).transaction(async (tx) => {
        await tx.insert(orders).values({ id: 1 })
        await worker.signal(runId, 'shipped', { tracking: 'T1' }, { key: 'hook', tx })
        if (outcome === 'roll back') tx.rollback()
      })
    const run = await worker.run(parcel)
    await expect.poll(async () => (await run.status()).status).toBe('waiting')

    await expect(ship(run.id, 'roll back')).rejects.toThrow()
    expect([await ordered(), (await run.status()).status]).toEqual([[], 'waiting'])
    await ship(run.id, 'commit')

    expect(await run.result()).toEqual({ shipped: { tracking: 'T1' } })
    expect(await ordered()).toEqual([{ id: 1 }])
    await worker.stop()
  })

  it('leaves nothing in the caller’s session: no prepared statements or settings, and the type parsers unchanged', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const settings = async () => (await client.query('show all')).rows
    const before = await settings()
    await client.query('begin')
    await engine.run(fulfil, { order: 1 }, { tx: client })
    await client.query('commit')

    expect(await settings()).toEqual(before)
    const { rows } = await client.query(
      'select count(*)::int as count, null as nothing from pg_prepared_statements',
    )
    expect(rows).toEqual([{ count: 0, nothing: null }])
    await client.end()
  })

  it('is refused with anything but an open transaction, naming what was given', async () => {
    const idle = await database.pool.connect()
    const closed = new pg.Client({ connectionString: database.url })
    await closed.connect()
    await closed.end()
    const failed = await database.pool.connect()
    await failed.query('begin')
    await failed.query('select 1/0').catch(() => {})
    const lite = await createPglite()
    const run = (tx: unknown) => engine.run(fulfil, { order: 1 }, { tx: tx as CallerTransaction })

    await expect(run(database.pool)).rejects.toThrow(
      /is a pg Pool.*Give a pg client on which BEGIN was issued/,
    )
    await expect(run(drizzle(database.pool))).rejects.toThrow(/is a pg Pool, inside what was given/)
    await expect(run(idle)).rejects.toThrow(/is a client on which no transaction is open/)
    await expect(run(drizzle(idle))).rejects.toThrow(/is a client on which no transaction is open/)
    await expect(run(failed)).rejects.toThrow(/a statement has failed: it can only be rolled back/)
    await expect(run(closed)).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(run(lite)).rejects.toThrow(/is a PGlite database/)
    await lite.transaction((tx) => expect(run(tx)).rejects.toThrow(/is a transaction of PGlite/))
    await expect(run({ begin: 1 })).rejects.toThrow(/is an object with begin/)
    await expect(run('tx')).rejects.toThrow(/is "tx"/)
    await expect(run(() => 'source')).rejects.toThrow(/is a function\. Give/)

    expect(await started()).toEqual([])
    await failed.query('rollback')
    idle.release()
    failed.release()
    await lite.close()
  })

  it('is refused in a transaction of another database, or of one without Belay', async () => {
    const [foreign, empty] = [await createDatabase(url), await createDatabase(url)]
    await postgres(foreign.pool, { schema: store.schema }).migrate()
    const inDatabase = (other: TestDatabase) =>
      drizzle(other.pool).transaction(async (tx) => {
        const refused = await engine.run(fulfil, { order: 1 }, { tx }).catch((error: Error) => error.message)
        // The refusal leaves the transaction intact: the caller may go on with it.
        await tx.execute(sql`create table kept (id int)`)
        return refused
      })

    expect(await inDatabase(foreign)).toMatch(/belongs to another database/)
    expect(await inDatabase(empty)).toMatch(/there is no schema "belay_\w+" of Belay's in it/)
    for (const { pool } of [foreign, empty]) {
      expect((await pool.query('select * from kept')).rows).toEqual([])
    }

    await Promise.all([foreign.drop(), empty.drop()])
  })

  it('reports conflicts as the database’s own errors, so that the caller repeats the transaction', async () => {
    await store.saveDefinitions([fulfil.record])
    const first = await database.pool.connect()
    await first.query('begin isolation level repeatable read')
    await first.query('select 1')
    await engine.run(fulfil, { order: 1 }, { key: 'k' })

    const end = engine.run(fulfil, { order: 1 }, { key: 'k', tx: first }).finally(async () => {
      await first.query('rollback')
      first.release()
    })

    await expect(end).rejects.toMatchObject({ code: '40001' })
  })

  it('asks for a repetition if its workflow was stored after the snapshot', async () => {
    const inSnapshot = () =>
      drizzle(database.pool).transaction(
        async (tx) => {
          await tx.insert(orders).values({ id: 1 })
          return engine.run(fulfil, { order: 1 }, { tx })
        },
        { isolationLevel: 'serializable' },
      )

    await expect(inSnapshot()).rejects.toMatchObject({
      code: '40001',
      message: expect.stringMatching(/Repeat the transaction/),
    })
    expect([await ordered(), await started()]).toEqual([[], []])
    await inSnapshot()
    expect([await ordered(), await started()]).toEqual([[{ id: 1 }], [1]])
  })

  it('of a batch is undone alone when the batch cannot be stored as a whole', async () => {
    const [definition] = await store.saveDefinitions([fulfil.record])
    const large = JSON.stringify('x'.repeat(9 * 1024 * 1024))
    const run = (n: number, definitionId = definition!.id) => ({
      runId: `01920000-0000-7000-8000-00000000000${n}`,
      definitionId,
      workflow: 'fulfil',
      key: null,
      input: large,
    })

    await drizzle(database.pool).transaction(async (tx) => {
      // Too large for one statement, so it becomes two.
      const batch = [run(1), run(2, definition!.id + 1_000)]
      await expect(store.startRuns(batch, { tx })).rejects.toMatchObject({ code: 'unknown_workflow' })
      await store.startRuns([run(3)], { tx })
    })

    expect((await store.listRuns({ limit: 10 })).map(({ runId }) => runId)).toEqual([run(3).runId])
  })

  it('races for one key with others, whichever of them roll back: one run in the end', async () => {
    const [definition] = await store.saveDefinitions([fulfil.record])
    for (let round = 0; round < 40; round += 1) {
      const key = `race:${round}`
      const answers: string[] = []
      const contend = async (n: number) => {
        const client = await database.pool.connect()
        await client.query('begin')
        const runId = crypto.randomUUID()
        const run = { runId, definitionId: definition!.id, workflow: 'fulfil', key, input: `${n}` }
        const [answer] = await store.startRuns([run], { tx: client })
        const commits = (round + n) % 3 !== 0
        await client.query(commits ? 'commit' : 'rollback')
        if (commits) answers.push(answer!.runId)
        client.release()
      }

      await Promise.all([0, 1, 2, 3].map(contend))

      const holders = await store.listRuns({ key, limit: 10 })
      // Every committed caller got the run that exists, unless its creator rolled back before anybody else took the key.
      expect(holders.map(({ runId }) => runId)).toEqual([...new Set(answers)])
      expect(holders).toHaveLength(1)
    }
  })
})
