import { createPglite } from '@belay/postgres-server'
import type { CallerTransaction } from '@belay/workflow'
import { createEngine, define, unchecked } from '@belay/workflow'
import type { PGlite } from '@electric-sql/pglite'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pglite } from '../src/pglite.ts'

const fulfil = define('fulfil', { version: 1, input: unchecked<{ order: number }>() }).step('pack', {
  run: ({ input }) => `packed ${input.order}`,
})
const _orders = pgTable('orders', { id: integer('id').primaryKey() })
const CREATE_ORDERS = 'create table orders (id int primary key)'

describe('a run started in the caller’s transaction in PGlite', () => {
  let db: PGlite
  beforeAll(async () => {
    db = await createPglite()
    await db.exec(CREATE_ORDERS)
  })
  afterAll(() => db.close())

  it.each([
    ['PGlite', (work: (tx: CallerTransaction) => Promise<void>) => db.transaction(work)],
    ['drizzle', (work: (tx: CallerTransaction) => Promise<void>) => drizzlePglite(db).transaction(work)],
  ])(
    'of %s commits with the caller’s rows, or rolls back with them, even the first of its workflow',
    async (kind, begin) => {
      const schema = `belay_${kind.toLowerCase()}`
      const engine = createEngine({ adapter: pglite(db, { schema }), workflows: [] })
      await engine.start()

      const rolledBack = begin(async (tx) => {
        await engine.run(fulfil, { order: 1 }, { key: 'order:1', tx })
        throw new Error('sold out')
      })
      await expect(rolledBack).rejects.toThrow('sold out')
      expect(await engine.runs.list()).toEqual([])
      await begin(async (tx) => {
        await engine.run(fulfil, { order: 1 }, { key: 'order:1', tx })
        await engine.run(fulfil, { order: 2 }, { tx })
      })
      await engine.close()

      const worker = createEngine({ adapter: pglite(db, { schema }), workflows: [fulfil] })
      await worker.start()
      const runs = await worker.runs.list()
      const results = await Promise.all(runs.map(({ id }) => worker.runs.handle(id).result()))
      expect(results).toEqual([{ pack: 'packed 2' }, { pack: 'packed 1' }])
      await worker.close()
    },
  )

  it('is refused before the adapter is open, in another database, and with anything but a transaction', async () => {
    const adapter = pglite(db)
    const engine = createEngine({ adapter })
    const run = (tx: unknown) => engine.run(fulfil, { order: 1 }, { tx: tx as CallerTransaction })

    await db.transaction((tx) => expect(run(tx)).rejects.toThrow(/before the adapter was open/))
    await adapter.open()
    await expect(run(db)).rejects.toThrow(/is a PGlite database, not a transaction in it/)
    await expect(run(drizzlePglite(db))).rejects.toThrow(/is a PGlite database, inside what was given/)
    let past: unknown
    await db.transaction(async (tx) => {
      past = tx
    })
    await expect(run(past)).rejects.toThrow(/is a transaction that has ended/)
    await expect(run(new pg.Client())).rejects.toThrow(/is a pg client/)
    const other = await createPglite()
    await other.transaction(async (tx) => {
      await expect(run(tx)).rejects.toThrow(/another database/)
      await tx.exec('create table kept (id int)')
    })
    expect((await other.query('select * from kept')).rows).toEqual([])

    expect(await engine.runs.list()).toEqual([])
    await Promise.all([engine.close(), other.close()])
  })
})
