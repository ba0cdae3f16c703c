import {
  createEngine,
  define,
  type EngineOptions,
  type RunHandle,
  type WorkflowDefinition,
} from '@belay/workflow'
import { sql } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const ledger = pgTable('ledger', { key: text('key').notNull(), amount: integer('amount').notNull() })
// No unique key: a row that is written twice is there twice.
const CREATE_LEDGER = 'create table ledger (key text not null, amount int not null)'

describe.each(servers)('transactional steps on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await database.pool.query(CREATE_LEDGER)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await database.pool.query('truncate ledger')
  })

  const entries = async (): Promise<readonly string[]> =>
    (await database.pool.query('select key from ledger order by key')).rows.map(({ key }) => key)

  /** A started engine on the database's pool, or on the adapter given. */
  async function worker(workflow: WorkflowDefinition, options: Partial<EngineOptions> = {}) {
    const adapter = options.adapter ?? postgres(database.url)
    const engine = createEngine({ workflows: [workflow], lease: '2s', ...options, adapter })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  async function errorOf(run: RunHandle<unknown>) {
    const failure: unknown = await run.result().catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'run_failed' })
    return (await run.status()).steps[0]!.error!
  }

  /** One step that does this in its transaction, tried once. */
  const once = (name: string, work: (tx: PostgresStepTransaction, key: string) => unknown) =>
    define(name, { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: async ({ tx, idempotencyKey }) => {
        await work(tx, idempotencyKey)
      },
    })

  const debit = (tx: PostgresStepTransaction, key: string) =>
    tx.client.query('insert into ledger values ($1, 1)', [key])

  it('write through pg and through drizzle, once, however often they fail after it', async () => {
    const workflow = define('twice', { version: 1 }).step('debit', {
      transaction: postgresTransaction({ isolation: 'repeatable read' }),
      retry: { retries: 2, initial: '10ms' },
      run: async ({ tx, attempt, runId }) => {
        await tx.client.query({
          text: 'insert into ledger values ($1, $2)',
          values: [`${runId} pg`, attempt],
        })
        await tx.drizzle.insert(ledger).values({ key: `${runId} drizzle`, amount: attempt })
        const { rows } = await tx.client.query('show transaction_isolation')
        if (attempt < 3) throw new Error('after the writes')
        return rows[0].transaction_isolation as string
      },
    })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    expect(await run.result()).toEqual({ debit: 'repeatable read' })

    expect(await entries()).toEqual([`${run.id} drizzle`, `${run.id} pg`])
    const { rows } = await database.pool.query('select distinct amount from ledger')
    expect(rows).toEqual([{ amount: 3 }])
  })

  it('are undone in transactions of their own', async () => {
    const workflow = define('undone', { version: 1 })
      .step('debit', {
        transaction: postgresTransaction(),
        run: async ({ tx, idempotencyKey }) => {
          await debit(tx, idempotencyKey)
          return idempotencyKey
        },
        compensate: {
          transaction: postgresTransaction(),
          retry: { retries: 1, initial: '10ms' },
          run: async ({ tx, output, attempt }) => {
            await tx.drizzle.insert(ledger).values({ key: `${output}:undo`, amount: -1 })
            if (attempt === 1) throw new Error('after the write')
          },
        },
      })
      .step('ship', {
        dependsOn: ['debit'],
        retry: false,
        run: () => {
          throw new Error('nothing to ship')
        },
      })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    await run.result().catch(() => {})

    expect((await run.status()).status).toBe('compensated')
    expect(await entries()).toEqual([`${run.id}:debit`, `${run.id}:debit:undo`])
  })

  it('start other runs with what they write', async () => {
    const child = define('child', { version: 1 }).step('work', { run: () => 'done' })
    const parent = define('parent', { version: 1 }).step('start', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }): Promise<string> => {
        await debit(tx, idempotencyKey)
        const run = await engine.run(child, undefined, { key: `${idempotencyKey}:${attempt}`, tx })
        if (attempt === 1) throw new Error('after the start')
        return run.id
      },
    })
    const engine = await worker(parent, { workflows: [parent, child] })

    const { start } = await (await engine.run(parent)).result()

    expect(await engine.runs.handle(start).result()).toEqual({ work: 'done' })
    expect(await engine.runs.list({ workflow: 'child' })).toHaveLength(1)
    expect(await entries()).toHaveLength(1)
  })

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
      // Caught, and of no use: the step fails all the same.
      await Promise.resolve(end(tx)).catch(() => {})
    })
    const engine = await worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({ code: 'transaction_ended', message: expect.stringMatching(/was refused/) })
    expect(await entries()).toEqual([])
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
    const engine = await worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({
      code: 'transaction_ended',
      message: expect.stringMatching(/undo it by hand/),
    })
    expect(calls).toBe(1)
  })

  it('may undo a part with a savepoint, of their own or of drizzle', async () => {
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
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect(await entries()).toEqual([`${run.id}:debit four`, `${run.id}:debit two`])
  })

  it('that swallow the error of a statement fail, and keep nothing', async () => {
    const workflow = once('swallows', async (tx, key) => {
      await debit(tx, key)
      await tx.client.query('select 1/0').catch(() => {})
    })
    const engine = await worker(workflow)

    const error = await errorOf(await engine.run(workflow))

    expect(error).toMatchObject({ code: 'transaction_failed' })
    expect(await entries()).toEqual([])
  })

  it('whose rows the database refuses at COMMIT fail as the handler’s own, and are retried', async () => {
    await database.pool.query(`create table deferred (id int primary key deferrable initially deferred)`)
    const workflow = define('deferred', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        await debit(tx, idempotencyKey)
        await tx.client.query('insert into deferred values (1), ($1)', [attempt])
      },
    })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect((await run.status()).steps[0]).toMatchObject({ failures: 1, status: 'completed' })
    expect(await entries()).toEqual([`${run.id}:debit`])
    await database.pool.query('drop table deferred')
  })

  it('that keep their tx reach nothing with it later', async () => {
    const kept: PostgresStepTransaction[] = []
    const workflow = once('keeps', async (tx, key) => {
      kept.push(tx)
      await debit(tx, key)
    })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)
    await run.result()

    for (const { client, drizzle } of kept) {
      expect(() => client.query(`insert into ledger values ('late', 1)`)).toThrow(/transaction is over/)
      await expect(drizzle.insert(ledger).values({ key: 'late', amount: 1 }).execute()).rejects.toThrow()
    }

    expect(await entries()).toEqual([`${run.id}:debit`])
  })

  it('that time out in a statement let go of what they had locked, and write nothing later', async () => {
    await database.pool.query(`create table locked (id int); insert into locked values (1)`)
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
    const engine = await worker(workflow)

    const error = await errorOf(await engine.run(workflow))
    const before = performance.now()
    await database.pool.query('select from locked for update')

    expect(error).toMatchObject({ code: 'step_timeout' })
    expect(performance.now() - before).toBeLessThan(8_000)
    await expect.poll(() => late.length, { timeout: 5_000 }).toBe(1)
    expect(await entries()).toEqual([])
    await database.pool.query('drop table locked')
  })

  it('that leave their transaction idle for too long are cut off, and tried again', async () => {
    const workflow = define('idle', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        await debit(tx, idempotencyKey)
        if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, 800))
        await tx.client.query('select 1')
      },
    })
    const engine = await worker(workflow, {
      adapter: postgres(database.url, { transactionIdleTimeoutMs: 200 }),
    })
    const run = await engine.run(workflow)

    await run.result()

    expect((await run.status()).steps[0]).toMatchObject({ failures: 1, status: 'completed' })
    expect(await entries()).toEqual([`${run.id}:debit`])
  })

  it('whose backend is killed in the handler are tried again, once', async () => {
    const workflow = define('killed', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 1, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        await debit(tx, idempotencyKey)
        if (attempt > 1) return
        const { rows } = await tx.client.query('select pg_backend_pid() as pid')
        await database.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
        await debit(tx, idempotencyKey)
      },
    })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect(await entries()).toEqual([`${run.id}:debit`])
  })

  it('that conflict with each other all commit once, without spending attempts', async () => {
    await database.pool.query(`insert into ledger values ('opening', 0)`)
    const workflow = define('conflicts', { version: 1 }).step('debit', {
      transaction: postgresTransaction({ isolation: 'serializable' }),
      run: async ({ tx, idempotencyKey }) => {
        const { rows } = await tx.client.query('select sum(amount)::int as balance from ledger')
        await tx.client.query('insert into ledger values ($1, $2)', [idempotencyKey, rows[0].balance + 1])
      },
    })
    const engine = await worker(workflow, { adapter: postgres(database.url, { transactionsMax: 3 }) })
    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 12 }, () => ({})),
    )

    await Promise.all(runs.map((run) => run.result()))

    const { rows } = await database.pool.query(
      'select count(*)::int as count, sum(amount)::text as sum from ledger',
    )
    // 1 + 2 + 4 + … only comes out if each saw all the others before it.
    expect(rows).toEqual([{ count: 13, sum: String(2 ** 12 - 1) }])
    for (const run of runs) expect((await run.status()).steps[0]).toMatchObject({ losses: 0 })
  })

  it('of one run may all be repeatable read, though they count down the same dependent', async () => {
    let fan: WorkflowDefinition & { step: (name: string, options: unknown) => typeof fan } = define('fan', {
      version: 1,
    }) as never
    const names = Array.from({ length: 8 }, (_, n) => `debit-${n}`)
    for (const name of names) {
      fan = fan.step(name, {
        transaction: postgresTransaction({ isolation: 'repeatable read' }),
        run: ({ tx, idempotencyKey }: { tx: PostgresStepTransaction; idempotencyKey: string }) =>
          debit(tx, idempotencyKey).then(() => null),
      })
    }
    const workflow = fan.step('sum', { dependsOn: names, run: () => 'all' })
    const engine = await worker(workflow)
    const run = await engine.run(workflow)

    expect(await run.result()).toMatchObject({ sum: 'all' })

    expect(await entries()).toEqual(names.map((name) => `${run.id}:${name}`))
  })

  it('take no more connections than they may, and the engine’s own work goes on beside them', async () => {
    let open = 0
    let most = 0
    const workflow = once('many', async (tx, key) => {
      open += 1
      most = Math.max(most, open)
      await tx.client.query('select pg_sleep(0.15)')
      await debit(tx, key)
      open -= 1
    })
    const quick = define('quick', { version: 1 }).step('quick', { run: () => 'done' })
    const adapter = postgres(database.url, { transactionsMax: 2, connectionsMax: 2 })
    const engine = await worker(workflow, { adapter, workflows: [workflow, quick], lease: '500ms' })
    const lost: unknown[] = []
    engine.on('lease.lost', (event) => lost.push(event))
    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 12 }, () => ({})),
    )
    const before = performance.now()
    await (await engine.run(quick)).result()
    const quickMs = performance.now() - before

    await Promise.all(runs.map((run) => run.result()))

    expect(most).toBe(2)
    expect(lost).toEqual([])
    expect(quickMs).toBeLessThan(700)
    expect(await entries()).toHaveLength(12)
  })

  it('leave connections of an application’s pool to the engine, or say that there are too few', async () => {
    const workflow = define('pooled', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: ({ tx, idempotencyKey }) => debit(tx, idempotencyKey).then(() => null),
    })
    const [three, two] = [3, 2].map((max) => new pg.Pool({ connectionString: database.url, max }))
    const roomy = await worker(workflow, { adapter: postgres(three!) })
    const runs = await roomy.runMany(
      workflow,
      Array.from({ length: 10 }, () => ({})),
    )
    await Promise.all(runs.map((run) => run.result()))
    await roomy.close()
    const tight = await worker(workflow, { adapter: postgres(two!) })

    const error = await errorOf(await tight.run(workflow))

    expect(error).toMatchObject({
      code: 'store_misconfigured',
      message: expect.stringMatching(/Raise its `max` to 3/),
    })
    await tight.close()
    expect(await entries()).toHaveLength(10)
    await Promise.all([three!.end(), two!.end()])
  })

  it('run handlers in sessions that plan as any other, and without prepared statements if told so', async () => {
    const seen: unknown[] = []
    const workflow = once('session', async (tx) => {
      for (const name of ['enable_seqscan', 'plan_cache_mode', 'default_transaction_isolation']) {
        seen.push((await tx.client.query(`show ${name}`)).rows[0][name])
      }
    })
    const engine = await worker(workflow, { adapter: postgres(database.url, { prepare: false }) })
    await (await engine.run(workflow)).result()

    expect(seen).toEqual(['on', 'auto', 'read committed'])
  })
})
