import { randomBytes } from 'node:crypto'
import { define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { debit, errorOf, once, withLedger } from './ledger.ts'

/** A role without rights on Belay's tables. */
const stranger = `belay_stranger_${randomBytes(4).toString('hex')}`

/** What a handler may do to its session, and the next handler must not notice. */
const poisons: Readonly<Record<string, string>> = {
  'DEALLOCATE ALL': 'deallocate all',
  PREPARE: 'prepare mine as select 1',
  'SET ROLE': `set role ${stranger}`,
  'SET LOCAL ROLE': `set local role ${stranger}`,
  'SET SESSION AUTHORIZATION': `set session authorization ${stranger}`,
  'a role set by a function': 'select become_stranger()',
  'SET search_path': 'set search_path = elsewhere',
  'SET LOCAL search_path': `set local search_path = ''`,
  'a search path whose names hide the system’s': 'set local search_path = elsewhere, pg_catalog',
  'SET statement_timeout': `set statement_timeout = '150ms'`,
  'SET LOCAL statement_timeout': `set local statement_timeout = '150ms'`,
  'SET default_transaction_read_only': 'set default_transaction_read_only = on',
  'SET array_nulls': 'set array_nulls = off',
  'SET LOCAL client_encoding': `set local client_encoding = 'LATIN1'`,
  'SET client_encoding, by a function': `select set_config('client_encoding', 'LATIN1', false)`,
  'SET extra_float_digits': 'set extra_float_digits = -14',
  'SET DateStyle': `set DateStyle = 'German'`,
  'SET standard_conforming_strings': 'set standard_conforming_strings = off',
  'SET SESSION CHARACTERISTICS': 'set session characteristics as transaction isolation level serializable',
  'a setting of the application’s': `set app.tenant = 'a'`,
  'a setting of the application’s, by a function': `select set_config('app.tenant', 'a', false)`,
  'a cursor WITH HOLD': 'declare kept cursor with hold for select generate_series(1, 1000)',
  'a temporary table': 'create temp table ledger (key text, amount int)',
  'a lock of the session': 'select pg_advisory_lock(42)',
  LISTEN: 'listen mine',
}

describe.each(servers)('what a handler does to its session on $name', ({ url }) => {
  const given = withLedger(url)
  beforeAll(async () => {
    await given.database.pool.query(`
      create role ${stranger};
      create schema elsewhere;
      grant usage on schema elsewhere to ${stranger};
      create function elsewhere.now() returns timestamptz language sql as 'select ''epoch''::timestamptz';
      create function become_stranger() returns void language sql as 'set role ${stranger}'`)
  })
  afterAll(() => given.database.pool.query(`drop schema elsewhere cascade; drop role ${stranger}`))

  const kinds = {
    'Belay’s own connections': () => postgres(given.database.url, { transactionsMax: 1 }),
    'an application’s Pool': () => {
      const pool = new pg.Pool({
        connectionString: given.database.url,
        max: 3,
        options: '-c app.of=the_pool -c search_path=public',
      })
      onTestFinished(async () => {
        // None of the connections that the pool still has shows the poison.
        const clients = await Promise.all([1, 2, 3].map(() => pool.connect()))
        const seen = await Promise.all(clients.map((client) => stateOf(client)))
        for (const client of clients) client.release()
        await pool.end()
        for (const state of seen)
          expect(state).toMatchObject({ ...seen[0], tenant: '', locks: 0, of: 'the_pool' })
      })
      return postgres(pool, { transactionsMax: 1 })
    },
  } as const

  /** All parts of a session that the poisons above could have changed. */
  async function stateOf(client: Pick<pg.ClientBase, 'query'>): Promise<Record<string, unknown>> {
    const { rows } = await client.query(`
      select current_user::text as role, session_user::text as login, current_setting('search_path') as path,
        current_setting('statement_timeout') as timeout, current_setting('array_nulls') as nulls, current_setting('client_encoding') as encoding,
        current_setting('extra_float_digits') as digits, current_setting('DateStyle') as dates,
        current_setting('standard_conforming_strings') as strings, current_setting('default_transaction_isolation') as isolation,
        current_setting('transaction_read_only') as read_only,
        coalesce(current_setting('app.tenant', true), '') as tenant, current_setting('app.of', true) as of,
        (select count(*)::int from pg_cursors where is_holdable) as cursors,
        (select count(*)::int from pg_listening_channels()) as channels,
        (select count(*)::int from pg_prepared_statements where name = 'mine') as prepared,
        to_regclass('pg_temp.ledger')::text as temporary,
        (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`)
    return rows[0]
  }

  describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('with %s', (kind) => {
    it.each(Object.keys(poisons))('does not reach others: %s', async (poison) => {
      const states: unknown[] = []
      const clean = once('clean', async (tx, key) => {
        states.push(await stateOf(tx.client))
        if (poison === 'PREPARE') await tx.client.query(poisons[poison]!)
        await debit(tx, key)
      })
      const poisoned = once('poisoned', async (tx, key) => {
        await tx.client.query(`insert into public.ledger values ('${key}', 1)`)
        await tx.client.query(poisons[poison]!)
      })
      const engine = await given.worker(clean, { adapter: kinds[kind](), workflows: [clean, poisoned] })
      const run = async (workflow: typeof clean) => {
        const started = await engine.run(workflow)
        await started.result()
        return `${started.id}:debit`
      }

      const keys = [
        await run(clean),
        await run(poisoned),
        await run(clean),
        await run(poisoned),
        await run(clean),
      ]
      await engine.close()

      expect(await given.entries()).toEqual(keys.sort())
      expect(states[1]).toEqual(states[0])
      expect(states[2]).toEqual(states[0])
    })
  })

  it('is restored for COMMIT, when the application’s deferred triggers run', async () => {
    await given.database.pool.query(`
      create table elsewhere.notes (note text);
      create function elsewhere.note() returns trigger language plpgsql as
        $$ begin insert into notes values (current_user); return null; end $$;
      create constraint trigger note after insert on ledger deferrable initially deferred
        for each row execute function elsewhere.note();
      grant insert on elsewhere.notes to ${stranger}`)
    onTestFinished(async () => {
      await given.database.pool.query('drop trigger note on ledger; drop table elsewhere.notes')
    })
    const workflow = once('deferred-trigger', async (tx, key) => {
      await debit(tx, key)
      await tx.client.query('set local search_path = elsewhere')
    })
    const engine = await given.worker(workflow)

    await (await engine.run(workflow)).result()

    expect(
      (await given.database.pool.query('select count(*)::int as count from elsewhere.notes')).rows,
    ).toEqual([{ count: 1 }])
  })

  it('fails the step with a clear message when its outcome can no longer be recorded', async () => {
    const workflow = once('read-only', async (tx, key) => {
      await debit(tx, key)
      await tx.client.query('set transaction read only')
    })
    const engine = await given.worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({ code: 'transaction_failed', message: expect.stringMatching(/read only/) })
    expect(await given.entries()).toEqual([])
  })

  it('costs no new connection if nothing needs to be cleaned up', async () => {
    const pids = new Set<number>()
    const workflow = define('harmless', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      run: async ({ tx, idempotencyKey }: { tx: PostgresStepTransaction; idempotencyKey: string }) => {
        await debit(tx, idempotencyKey)
        await tx.client.query({
          name: 'named',
          text: 'update ledger set amount = amount where key = $1',
          values: [''],
        })
        await tx.client.query(`select set_config('app.tenant', 'a', true)`)
        pids.add((await tx.client.query('select pg_backend_pid() as pid')).rows[0].pid)
      },
    })
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      pids.clear()
      const engine = await given.worker(workflow, { adapter: kinds[kind]() })
      for (let n = 0; n < 6; n += 1) await (await engine.run(workflow)).result()
      await engine.close()

      expect(pids.size).toBeLessThanOrEqual(kind === 'an application’s Pool' ? 3 : 1)
    }
  })
})
