import { define, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { type PostgresStepTransaction, postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { debit, ledger, withLedger } from './ledger.ts'

describe.each(servers)('writes of transactional steps on $name', ({ url }) => {
  const given = withLedger(url)

  it('happen through pg and through drizzle once, however often the steps fail afterwards', async () => {
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
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    expect(await run.result()).toEqual({ debit: 'repeatable read' })

    expect(await given.entries()).toEqual([`${run.id} drizzle`, `${run.id} pg`])
    const { rows } = await given.database.pool.query('select distinct amount from ledger')
    expect(rows).toEqual([{ amount: 3 }])
  })

  it('are undone in separate transactions', async () => {
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
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    await run.result().catch(() => {})

    expect((await run.status()).status).toBe('compensated')
    expect(await given.entries()).toEqual([`${run.id}:debit`, `${run.id}:debit:undo`])
  })

  it('commit together with the start of other runs', async () => {
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
    const engine = await given.worker(parent, { workflows: [parent, child] })

    const { start } = await (await engine.run(parent)).result()

    expect(await engine.runs.handle(start).result()).toEqual({ work: 'done' })
    expect(await engine.runs.list({ workflow: 'child' })).toHaveLength(1)
    expect(await given.entries()).toHaveLength(1)
  })

  it('that conflict with each other all commit once, without spending attempts', async () => {
    await given.database.pool.query(`insert into ledger values ('opening', 0)`)
    const workflow = define('conflicts', { version: 1 }).step('debit', {
      transaction: postgresTransaction({ isolation: 'serializable' }),
      run: async ({ tx, idempotencyKey }) => {
        const { rows } = await tx.client.query('select sum(amount)::int as balance from ledger')
        await tx.client.query('insert into ledger values ($1, $2)', [idempotencyKey, rows[0].balance + 1])
      },
    })
    const engine = await given.worker(workflow, {
      adapter: postgres(given.database.url, { transactionsMax: 3 }),
    })
    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 12 }, () => ({})),
    )

    await Promise.all(runs.map((run) => run.result()))

    const { rows } = await given.database.pool.query(
      'select count(*)::int as count, sum(amount)::text as sum from ledger',
    )
    // 1 + 2 + 4 + … only results if each saw all the others before it.
    expect(rows).toEqual([{ count: 13, sum: String(2 ** 12 - 1) }])
    for (const run of runs) expect((await run.status()).steps[0]).toMatchObject({ losses: 0 })
  })

  it('of one run may all be repeatable read, even if they count down the same dependent', async () => {
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
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    expect(await run.result()).toMatchObject({ sum: 'all' })

    expect(await given.entries()).toEqual(names.map((name) => `${run.id}:${name}`))
  })
})
