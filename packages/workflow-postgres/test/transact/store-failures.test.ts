import { define } from '@belay/workflow'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { debit, errorOf, once, withLedger } from './ledger.ts'

/** More often than a conflict would be repeated. */
const TIMES = 12

describe.each(servers)('a failure of the store in a step’s transaction on $name', ({ url }) => {
  const given = withLedger(url)
  beforeAll(async () => {
    await given.database.pool.query(`
      create function fail(code text) returns int language plpgsql as
        $$ begin raise exception 'simulated' using errcode = code; end $$`)
  })

  /** A step that is tried once. Its handler writes, and then does `work` with the number of its call. */
  function failing(name: string, work: (tx: PostgresStepTransaction, call: number) => Promise<unknown>) {
    let calls = 0
    return once(name, async (tx, key) => {
      calls += 1
      await debit(tx, key)
      await work(tx, calls)
    })
  }

  const raised = (tx: PostgresStepTransaction, code: string) => tx.client.query('select fail($1)', [code])

  async function completes(workflow: ReturnType<typeof once>) {
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)
    await run.result()
    expect((await run.status()).steps[0]).toMatchObject({ status: 'completed', failures: 0 })
    expect(await given.entries()).toEqual([`${run.id}:debit`])
  }

  it.each(['53100', '53200', '25006', '57P01', '57P02', '58030'])(
    'with SQLSTATE %s spends no attempt: its handler runs again',
    async (code) => {
      await completes(
        failing(`fails-with-${code}`, async (tx, call) => call <= 2 && (await raised(tx, code))),
      )
    },
  )

  it('may last longer than any conflict', async () => {
    const states = ['53100', '53200']
    await completes(
      failing('lasting', async (tx, call) => {
        // Recovers at last: its delays have grown to seconds by then.
        if (call <= 4) await raised(tx, states[call % 2]!)
      }),
    )
  })

  it('is recognised as the cause of an error of drizzle, or of the handler', async () => {
    await completes(
      failing('wrapped', async (tx, call) => {
        if (call === 1) await tx.drizzle.execute(sql`select fail('53100')`)
        if (call === 2)
          await raised(tx, '53100').catch((cause: unknown) => {
            throw new Error('cannot book', { cause })
          })
      }),
    )
  })

  it('is recognised although the handler hides it', async () => {
    await completes(
      failing('hidden', async (tx, call) => {
        if (call === 1) await raised(tx, '53100').catch(() => {})
        if (call === 2)
          await raised(tx, '53100').catch(() => {
            throw new Error('cannot book')
          })
      }),
    )
  })

  it('is none once the handler has undone it with a savepoint', async () => {
    const workflow = failing('recovered', async (tx) => {
      await tx.drizzle.transaction((part) => part.execute(sql`select fail('53100')`)).catch(() => {})
      throw new Error('declined')
    })
    const engine = await given.worker(workflow)

    expect(await errorOf(await engine.run(workflow))).toMatchObject({ message: 'declined' })
  })

  it.each(['53400', '57014', '23505', '42501'])(
    'is not meant by SQLSTATE %s: the handler fails',
    async (code) => {
      const workflow = failing(`own-${code}`, (tx) => raised(tx, code))
      const engine = await given.worker(workflow)

      expect(await errorOf(await engine.run(workflow))).toMatchObject({ message: 'simulated' })
    },
  )

  it('is not meant if the handler has made its transaction read only', async () => {
    const workflow = once('own-read-only', async (tx, key) => {
      await tx.client.query('set transaction read only')
      await debit(tx, key)
    })
    const engine = await given.worker(workflow)

    expect(await errorOf(await engine.run(workflow))).toMatchObject({
      message: expect.stringMatching(/read-only transaction/),
    })
  })

  it('at the settlement repeats the handler until the store has recovered, more often than a conflict', async () => {
    await given.database.pool.query(`
      create sequence tries;
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.status = 'completed' and nextval('tries') <= ${TIMES} then
          raise exception 'No space left on device' using errcode = '53100';
        end if;
        return new;
      end $$;
      create trigger refuse before update on belay.workflow_steps for each row execute function refuse()`)
    onTestFinished(async () => {
      await given.database.pool.query(
        'drop trigger refuse on belay.workflow_steps; drop function refuse; drop sequence tries',
      )
    })
    const workflow = failing('settled-late', async () => {})
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)
    const told = new Promise((resolve) => engine.on('store.unavailable', resolve))

    expect(await told).toMatchObject({ message: expect.stringMatching(/disk/) })
    await given.database.pool.query(`select setval('tries', ${TIMES})`)
    await run.result()

    expect((await run.status()).steps[0]).toMatchObject({ failures: 0 })
    expect(await given.entries()).toEqual([`${run.id}:debit`])
  })

  it('of sessions that begin read only is none: they write', async () => {
    const workflow = define('read-only-sessions', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: ({ tx, idempotencyKey }) => debit(tx, idempotencyKey).then(() => null),
    })
    const engine = await given.worker(workflow, { adapter: postgres(given.database.url) })
    const name = new URL(given.database.url).pathname.slice(1)
    const starts = Array.from({ length: 10 }, () => ({}))

    await given.database.pool.query(`alter database ${name} set default_transaction_read_only = on`)
    const during = await engine.runMany(workflow, starts)
    await Promise.all(during.map((run) => run.result()))
    await given.database.pool.query(
      `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
    )
    const after = await engine.runMany(workflow, starts)
    await Promise.all(after.map((run) => run.result()))

    expect(await given.entries()).toHaveLength(20)
    for (const run of [...during, ...after])
      expect((await run.status()).steps[0]).toMatchObject({ failures: 0 })
  })
})
