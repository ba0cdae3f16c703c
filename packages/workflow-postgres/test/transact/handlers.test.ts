import { define } from '@belay/workflow'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { debit, errorOf, ledger, once, withLedger } from './ledger.ts'

describe.each(servers)('transactional steps whose handlers misbehave on $name', ({ url }) => {
  const given = withLedger(url)

  it.each<[string, (tx: PostgresStepTransaction) => unknown]>([
    ['commit', ({ client }) => client.query('commit')],
    ['ROLLBACK', ({ client }) => client.query({ text: '  /* really */ ROLLBACK AND CHAIN' })],
    ['end', ({ client }) => client.query('-- the end\nend')],
    ['begin', ({ client }) => client.query('begin')],
    ['abort', ({ client }) => client.query('abort')],
    ['prepare', ({ client }) => client.query(`prepare transaction 'x'`)],
    ['drizzle', ({ drizzle }) => drizzle.execute(sql`commit`)],
    ['release', ({ client }) => client.release()],
  ])('cannot end their transaction themselves: %s', async (name, end) => {
    const workflow = once(`ends-${name.toLowerCase()}`, async (tx, key) => {
      await debit(tx, key)
      // Catching the error does not help: the step still fails.
      await Promise.resolve(end(tx)).catch(() => {})
    })
    const engine = await given.worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({ code: 'transaction_ended', message: expect.stringMatching(/was refused/) })
    expect(await given.entries()).toEqual([])
  })

  it('that end it behind the engine’s back are not tried again', async () => {
    let calls = 0
    const workflow = define('sly', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      run: async ({ tx, idempotencyKey }) => {
        calls += 1
        await tx.client.query(`insert into ledger values ('${idempotencyKey}', 1); commit; begin`)
      },
    })
    const engine = await given.worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({
      code: 'transaction_ended',
      message: expect.stringMatching(/undo it by hand/),
    })
    expect(calls).toBe(1)
  })

  it('may undo a part with a savepoint, their own or drizzle’s', async () => {
    const workflow = once('savepoints', async (tx, key) => {
      await tx.client.query('savepoint mine')
      await debit(tx, `${key} one`)
      await tx.client.query('rollback to savepoint mine')
      await debit(tx, `${key} two`)
      await tx.drizzle
        .transaction(async (part) => {
          await part.insert(ledger).values({ key: `${key} three`, amount: 3 })
          part.rollback()
        })
        .catch(() => {})
      await tx.drizzle.transaction((part) => part.insert(ledger).values({ key: `${key} four`, amount: 4 }))
    })
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect(await given.entries()).toEqual([`${run.id}:debit four`, `${run.id}:debit two`])
  })

  it('that swallow the error of a statement fail, and keep nothing', async () => {
    const workflow = once('swallows', async (tx, key) => {
      await debit(tx, key)
      await tx.client.query('select 1/0').catch(() => {})
    })
    const engine = await given.worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({ code: 'transaction_failed' })
    expect(await given.entries()).toEqual([])
  })

  it('whose rows the database refuses at COMMIT fail with that error, and are retried', async () => {
    await given.database.pool.query(
      `create table deferred (id int primary key deferrable initially deferred)`,
    )
    const workflow = define('deferred', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        await debit(tx, idempotencyKey)
        await tx.client.query('insert into deferred values (1), ($1)', [attempt])
      },
    })
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect((await run.status()).steps[0]).toMatchObject({ failures: 1, status: 'completed' })
    expect(await given.entries()).toEqual([`${run.id}:debit`])
    await given.database.pool.query('drop table deferred')
  })

  it('that keep their tx cannot use it later', async () => {
    const kept: PostgresStepTransaction[] = []
    const workflow = once('keeps', async (tx, key) => {
      kept.push(tx)
      await debit(tx, key)
    })
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)
    await run.result()

    for (const { client, drizzle } of kept) {
      expect(() => client.query(`insert into ledger values ('late', 1)`)).toThrow(/transaction is over/)
      await expect(drizzle.insert(ledger).values({ key: 'late', amount: 1 }).execute()).rejects.toThrow()
    }

    expect(await given.entries()).toEqual([`${run.id}:debit`])
  })

  it('that time out in a statement release their locks, and write nothing later', async () => {
    await given.database.pool.query(`create table locked (id int); insert into locked values (1)`)
    const late: unknown[] = []
    const workflow = define('slow', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      timeout: '300ms',
      run: async ({ tx, idempotencyKey }) => {
        await tx.client.query('select from locked for update')
        await tx.client.query('select pg_sleep(15)').catch((error: unknown) => late.push(error))
        await debit(tx, idempotencyKey)
      },
    })
    const engine = await given.worker(workflow)

    const error = await errorOf(await engine.run(workflow))
    const before = performance.now()
    await given.database.pool.query('select from locked for update')

    expect(error).toMatchObject({ code: 'step_timeout' })
    expect(performance.now() - before).toBeLessThan(8_000)
    await expect.poll(() => late.length, { timeout: 5_000 }).toBe(1)
    expect(await given.entries()).toEqual([])
    await given.database.pool.query('drop table locked')
  })

  it('that leave their transaction idle for too long are cut off, and tried again', async () => {
    const workflow = define('idle', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        await debit(tx, idempotencyKey)
        if (attempt === 1) await idleUntilEnded(tx)
        await tx.client.query('select 1')
      },
    })
    const engine = await given.worker(workflow, {
      adapter: postgres(given.database.url, { transactionIdleTimeoutMs: 200 }),
    })
    const run = await engine.run(workflow)

    await run.result()

    expect((await run.status()).steps[0]).toMatchObject({ failures: 1, status: 'completed' })
    expect(await given.entries()).toEqual([`${run.id}:debit`])
  })

  /** Leaves the transaction alone until the server has ended its session. */
  async function idleUntilEnded(tx: PostgresStepTransaction): Promise<void> {
    const { rows } = await tx.client.query('select pg_backend_pid() as pid')
    const session = 'select from pg_stat_activity where pid = $1'
    const isEnded = async () => (await given.database.pool.query(session, [rows[0]!.pid])).rowCount === 0
    await vi.waitUntil(isEnded, { timeout: 10_000 })
  }
})
