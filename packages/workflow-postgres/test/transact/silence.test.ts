import { randomUUID } from 'node:crypto'
import { startPostgres } from '@belay/postgres-server'
import { define } from '@belay/workflow'
import type { Transacted } from '@belay/workflow/adapter'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type PostgresAdapter,
  type PostgresStepTransaction,
  postgres,
  postgresTransaction,
} from '../../src/index.ts'
import { servers } from '../setup/database.ts'
import { within } from '../setup/within.ts'
import { debit, withLedger } from './ledger.ts'
import { type Silence, silencingProxy } from './silencing-proxy.ts'

/** Far above every limit in these tests, and far below a hang. */
const SOON_MS = 15_000

describe.each(servers)('a step whose connection falls silent on $name', ({ url }) => {
  const given = withLedger(url)

  /** One step that writes, queries the database, and counts its calls. */
  function asking(calls: number[]) {
    return define('asking', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: { retries: 3, initial: '10ms' },
      run: async ({ tx, attempt, idempotencyKey }) => {
        calls.push(attempt)
        await debit(tx, idempotencyKey)
        await tx.client.query('select 42 as answer')
      },
    })
  }

  it.each<[string, Silence, readonly number[]]>([
    ['when it begins', { from: 'begin; set transaction', keeps: 'sentence' }, [1]],
    ['in the handler', { from: 'as answer', keeps: 'sentence' }, [1, 1]],
    ['in the handler, after the database heard it', { from: 'as answer', keeps: 'answer' }, [1, 1]],
    ['at its settlement', { from: "belay_step.mark', true", keeps: 'sentence' }, [1, 1]],
    ['before its COMMIT', { from: 'commit\0', keeps: 'sentence' }, [1, 1]],
    ['after its COMMIT', { from: 'commit\0', keeps: 'answer' }, [1]],
  ])('is tried again in bounded time, and leaves its row once (%s)', async (_, silence, expected) => {
    const calls: number[] = []
    const workflow = asking(calls)
    const adapter = postgres(await silencingProxy(given.database.url, [silence]), {
      queryTimeoutMs: 600,
      transactionIdleTimeoutMs: 500,
    })
    const engine = await given.worker(workflow, { adapter })
    const run = await engine.run(workflow)

    await soon(run.result())

    expect(calls).toEqual(expected)
    expect(await given.entries()).toEqual([`${run.id}:debit`])
  })

  it('does not keep the engine from closing', async () => {
    const calls: number[] = []
    const workflow = asking(calls)
    const silence: Silence = { from: 'as answer', keeps: 'answer' }
    const adapter = postgres(await silencingProxy(given.database.url, [silence]), { transactionsMax: 1 })
    const engine = await given.worker(workflow, { adapter })
    // The second one waits for its transaction's turn.
    const runs = [await engine.run(workflow), await engine.run(workflow)]
    await expect.poll(() => calls, { timeout: SOON_MS }).toEqual([1])

    await soon(engine.close({ timeout: 200 }))

    const { rows } = await given.database.pool.query(
      `select status, losses from belay.workflow_steps where run_id = any ($1::uuid[])`,
      [runs.map(({ id }) => id)],
    )
    expect(rows).toEqual([1, 2].map(() => ({ status: 'ready', losses: 0 })))
    expect(calls).toEqual([1])
    expect(await given.entries()).toEqual([])
  })

  it('releases its transaction when it is cut off', async () => {
    const adapter = postgres(
      await silencingProxy(given.database.url, [{ from: 'as answer', keeps: 'sentence' }]),
    )
    onTestFinished(() => adapter.close())
    const { cutOff, transacting, answer } = held(adapter)
    await expect.poll(() => answer.isAsked, { timeout: SOON_MS }).toBe(true)

    cutOff()

    expect(await soon(transacting)).toMatchObject({ type: 'rolled_back' })
    await expect(soon(answer.given!)).rejects.toThrow()
  })

  it('ends its wait for a turn when nobody waits for it any more, and takes no other’s turn', async () => {
    const adapter = postgres(given.database.url, { transactionsMax: 1 })
    onTestFinished(() => adapter.close())
    const [first, second, third] = [held(adapter), held(adapter), held(adapter)]
    await expect.poll(() => first.answer.isAsked, { timeout: SOON_MS }).toBe(true)

    second.cutOff()
    expect(await soon(second.transacting)).toEqual({ type: 'rolled_back' })
    expect([second.answer.isAsked, third.answer.isAsked]).toEqual([false, false])
    first.cutOff()

    await expect.poll(() => third.answer.isAsked, { timeout: SOON_MS }).toBe(true)
    third.cutOff()
    await soon(Promise.all([first.transacting, third.transacting]))
  })

  it('says so when the application holds every connection of its Pool', async () => {
    const pool = new pg.Pool({ connectionString: given.database.url, max: 3 })
    const taken = await Promise.all([1, 2, 3].map(() => pool.connect()))
    const { transacting, answer } = held(postgres(pool, { queryTimeoutMs: 200 }))

    await expect(soon(transacting)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(
        /waited 200 ms for a connection.*of the 3 connections in the pool, 3 are in use/,
      ),
    })

    expect(answer.isAsked).toBe(false)
    for (const client of taken) client.release()
    await pool.end()
  })

  it('does not wait for ever for a locked row, and spends no attempt on it', async () => {
    const calls: number[] = []
    const holder = await given.database.pool.connect()
    onTestFinished(() => holder.release(true))
    const workflow = define('held-row', { version: 1 }).step('debit', {
      transaction: postgresTransaction(),
      retry: false,
      run: async ({ tx, runId, idempotencyKey }) => {
        calls.push(calls.length)
        if (calls.length === 1) {
          await holder.query('begin')
          await holder.query('select from belay.workflow_steps where run_id = $1 for update', [runId])
        }
        await debit(tx, idempotencyKey)
      },
    })
    const engine = await given.worker(workflow, {
      adapter: postgres(given.database.url, { queryTimeoutMs: 600 }),
    })
    const run = await engine.run(workflow)
    await expect.poll(() => calls.length, { timeout: SOON_MS }).toBeGreaterThan(1)
    await holder.query('rollback')

    await soon(run.result())

    expect(await given.entries()).toEqual([`${run.id}:debit`])
    expect((await run.status()).steps[0]).toMatchObject({ failures: 0, losses: 0 })
  })
})

it('a step’s transaction ends soon after it is cut off, even if the server is frozen', async () => {
  const server = await startPostgres({ major: 18, inMemory: true })
  onTestFinished(() => server.stop())
  const adapter = postgres(server.url, { queryTimeoutMs: 600, autoMigrate: true })
  await adapter.open()
  const [open, beginning] = [held(adapter), () => held(adapter)]
  await expect.poll(() => open.answer.isAsked, { timeout: SOON_MS }).toBe(true)

  server.freeze()
  onTestFinished(() => server.thaw())
  const begun = beginning()
  open.cutOff()
  begun.cutOff()

  expect(await soon(Promise.all([open.transacting, begun.transacting]))).toMatchObject([
    { type: 'rolled_back' },
    { type: 'rolled_back' },
  ])
  expect(begun.answer.isAsked).toBe(false)
  server.thaw()
  await adapter.close()
})

/** A transaction whose work queries the database, and then waits until it is cut off. */
function held(adapter: PostgresAdapter) {
  const controller = new AbortController()
  const answer: { isAsked: boolean; given: Promise<unknown> | undefined } = {
    isAsked: false,
    given: undefined,
  }
  const transacting: Promise<Transacted> = adapter.transact({
    workerId: randomUUID(),
    isolation: 'read committed',
    signal: controller.signal,
    work: (tx) => {
      const { client } = tx as PostgresStepTransaction
      answer.given = client.query('select pg_sleep(60), 42 as answer')
      answer.given.catch(() => {})
      answer.isAsked = true
      return new Promise((resolve) => controller.signal.addEventListener('abort', () => resolve(null)))
    },
  })
  transacting.catch(() => {})
  return { cutOff: () => controller.abort(), transacting, answer }
}

function soon<Result>(work: Promise<Result>): Promise<Result> {
  return within(work, SOON_MS, 'an answer')
}
