import { createPglite } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import type { PGlite } from '@electric-sql/pglite'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type PgliteStepTransaction, pglite, pgliteTransaction } from '../../src/pglite.ts'
import { errorOf } from './ledger.ts'

const ledger = pgTable('ledger', { key: text('key').notNull(), amount: integer('amount').notNull() })

describe('transactional steps in PGlite', () => {
  let db: PGlite
  beforeAll(async () => {
    db = await createPglite()
    await db.exec('create table ledger (key text not null, amount int not null)')
  })
  afterAll(() => db.close())
  beforeEach(async () => {
    await db.exec('truncate ledger')
  })

  const entries = async () =>
    (await db.query<{ key: string }>('select key from ledger order by key')).rows.map(({ key }) => key)

  async function worker(workflow: Parameters<typeof createEngine>[0]['workflows']) {
    const engine = createEngine({ adapter: pglite(db), workflows: workflow! })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  const once = (name: string, work: (tx: PgliteStepTransaction, key: string) => unknown) =>
    define(name, { version: 1 }).step('debit', {
      transaction: pgliteTransaction(),
      retry: false,
      run: async ({ tx, idempotencyKey }) => {
        await work(tx, idempotencyKey)
      },
    })

  it('commit writes through PGlite and through drizzle with their settlement, and undo them in the same way', async () => {
    const workflow = define('lite', { version: 1 })
      .step('debit', {
        transaction: pgliteTransaction({ isolation: 'serializable' }),
        retry: { retries: 1, initial: '10ms' },
        run: async ({ tx, attempt, idempotencyKey: key }) => {
          await tx.client.query('insert into ledger values ($1, 1)', [`${key} pglite`])
          await tx.client.sql`insert into ledger values (${`${key} sql`}, 1)`
          await tx.drizzle.insert(ledger).values({ key: `${key} drizzle`, amount: 1 })
          await tx.drizzle.transaction((part) =>
            part.insert(ledger).values({ key: `${key} part`, amount: 1 }),
          )
          if (attempt === 1) throw new Error('after the writes')
        },
        compensate: {
          transaction: pgliteTransaction(),
          run: ({ tx }) => tx.drizzle.delete(ledger),
        },
      })
      .step('ship', {
        dependsOn: ['debit'],
        retry: false,
        run: async () => {
          expect(await entries()).toHaveLength(4)
          throw new Error('nothing to ship')
        },
      })
    const engine = await worker([workflow])
    const run = await engine.run(workflow)

    await run.result().catch(() => {})

    expect((await run.status()).status).toBe('compensated')
    expect(await entries()).toEqual([])
  })

  it.each<[string, (tx: PgliteStepTransaction) => Promise<unknown>]>([
    ['rollback()', ({ client }) => client.rollback()],
    ['query', ({ client }) => client.query('commit')],
    ['exec', ({ client }) => client.exec('rollback')],
    ['sql', ({ client }) => client.sql`commit`],
  ])('cannot end their transaction themselves: %s', async (name, end) => {
    const workflow = once(`lite-ends-${name.replace('()', '')}`, async (tx, key) => {
      await tx.client.query('insert into ledger values ($1, 1)', [key])
      await end(tx).catch(() => {})
    })
    const engine = await worker([workflow])

    expect(await errorOf(await engine.run(workflow))).toMatchObject({ code: 'transaction_ended' })

    expect(await entries()).toEqual([])
  })

  it('that keep their tx, or swallow errors, leave nothing behind', async () => {
    let kept: PgliteStepTransaction | undefined
    const keeps = once('lite-keeps', (tx) => {
      kept = tx
    })
    const swallows = once('lite-swallows', async (tx, key) => {
      await tx.client.query('insert into ledger values ($1, 1)', [key])
      await tx.client.query('select 1/0').catch(() => {})
    })
    const engine = await worker([keeps, swallows])

    await (await engine.run(keeps)).result()
    const error = await errorOf(await engine.run(swallows))

    expect(error).toMatchObject({ code: 'transaction_failed' })
    expect(kept?.client.closed).toBe(true)
    await expect(kept?.client.query('select 1')).rejects.toThrow(/transaction is over/)
    expect(await entries()).toEqual([])
  })

  it('hold the database while they run: everything else waits, and continues', async () => {
    const order: string[] = []
    const slow = once('lite-slow', async (tx, key) => {
      order.push('slow begins')
      // biome-ignore lint/style/noRestrictedGlobals: the time in which what waits could go ahead, if nothing held it.
      await new Promise((resolve) => setTimeout(resolve, 300))
      await tx.client.query('insert into ledger values ($1, 1)', [key])
      order.push('slow ends')
    })
    const quick = define('lite-quick', { version: 1 }).step('quick', { run: () => order.push('quick') })
    const engine = await worker([slow, quick])
    const running = await engine.run(slow)
    await expect.poll(() => order).toContain('slow begins')

    await Promise.all([running.result(), engine.run(quick).then((run) => run.result())])

    expect(order).toEqual(['slow begins', 'slow ends', 'quick'])
  })

  it('that time out release the database', async () => {
    const workflow = define('lite-stuck', { version: 1 }).step('debit', {
      transaction: pgliteTransaction(),
      retry: false,
      timeout: '200ms',
      run: async ({ tx, idempotencyKey }) => {
        await tx.client.query('insert into ledger values ($1, 1)', [idempotencyKey])
        // Deadlocks with itself.
        await db.query('select 1')
        await tx.client.query('insert into ledger values ($1, 2)', [idempotencyKey])
      },
    })
    const engine = await worker([workflow])

    expect(await errorOf(await engine.run(workflow))).toMatchObject({ code: 'step_timeout' })

    expect(await entries()).toEqual([])
  })
})
