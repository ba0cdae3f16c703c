import { define } from '@belay/workflow'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { postgres, postgresTransaction } from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { debit, once, withLedger } from './ledger.ts'

describe.each(servers)('the connections of transactional steps on $name', ({ url }) => {
  const given = withLedger(url)

  it('whose backend is killed in the handler are tried again, and spend no attempt', async () => {
    let calls = 0
    const workflow = define('killed', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: async ({ tx, idempotencyKey }) => {
        calls += 1
        await debit(tx, idempotencyKey)
        if (calls > 1) return
        const { rows } = await tx.client.query('select pg_backend_pid() as pid')
        await given.database.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
        await debit(tx, idempotencyKey)
      },
    })
    const engine = await given.worker(workflow)
    const run = await engine.run(workflow)

    await run.result()

    expect(await given.entries()).toEqual([`${run.id}:debit`])
  })

  it('take no more connections than they may, and the engine’s own work continues beside them', async () => {
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
    const adapter = postgres(given.database.url, { transactionsMax: 2, connectionsMax: 2 })
    const engine = await given.worker(workflow, { adapter, workflows: [workflow, quick], lease: '500ms' })
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
    expect(await given.entries()).toHaveLength(12)
  })

  it('leave connections of an application’s pool to the engine, or say that there are too few', async () => {
    const workflow = define('pooled', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: ({ tx, idempotencyKey }) => debit(tx, idempotencyKey).then(() => null),
    })
    const [three, two] = [3, 2].map((max) => new pg.Pool({ connectionString: given.database.url, max }))
    const roomy = await given.worker(workflow, { adapter: postgres(three!) })
    const runs = await roomy.runMany(
      workflow,
      Array.from({ length: 10 }, () => ({})),
    )
    await Promise.all(runs.map((run) => run.result()))
    await roomy.close()

    await expect(given.worker(workflow, { adapter: postgres(two!) })).rejects.toMatchObject({
      code: 'store_misconfigured',
      message: expect.stringMatching(/Raise its `max` to 3/),
    })

    expect(await given.entries()).toHaveLength(10)
    await Promise.all([three!.end(), two!.end()])
  })

  it('run handlers in sessions with the usual plans, and without prepared statements if told so', async () => {
    const seen: unknown[] = []
    const workflow = once('session', async (tx) => {
      for (const name of ['enable_seqscan', 'plan_cache_mode', 'default_transaction_isolation']) {
        seen.push((await tx.client.query(`show ${name}`)).rows[0][name])
      }
    })
    const engine = await given.worker(workflow, { adapter: postgres(given.database.url, { prepare: false }) })
    await (await engine.run(workflow)).result()

    expect(seen).toEqual(['on', 'auto', 'read committed'])
  })
})
