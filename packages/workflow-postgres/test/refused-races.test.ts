import { randomUUID } from 'node:crypto'
import type { NewRun, StartLimit } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

describe.each(servers)('starts that are refused at a limit on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let definitionId: number
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
    const [definition] = await store.saveDefinitions([definitionOf('limited', { a: [] })])
    definitionId = definition!.id
  })
  afterAll(() => database.drop())

  const newRun = (limits: readonly StartLimit[], key: string | null = null): NewRun => ({
    ...{ runId: randomUUID(), definitionId, workflow: 'limited', key, input: null, limits },
  })

  const limit = (name: string, concurrency = 1, key = ''): readonly StartLimit[] => [
    { limit: name, key, concurrency },
  ]

  async function rowsOf(table: 'slots' | 'keys', name: string): Promise<number> {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from ${store.schema}.workflow_limit_${table} where limit_name = $1`,
      [name],
    )
    return rows[0].count
  }

  /** Resolves once a transaction waits for another one. */
  async function untilSomebodyWaits(): Promise<void> {
    for (;;) {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (rows.length > 0) return
    }
  }

  /** Repeats a start that another transaction has held up, as the engine does. */
  async function start(adapter: PostgresAdapter, run: NewRun) {
    for (;;) {
      try {
        return (await adapter.startRuns([run]))[0]!
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'store_contended') throw error
      }
    }
  }

  it('twenty connections that start at once, while runs end, never exceed the limit and fill it', async () => {
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'ends', leaseMs: 600_000 })
    const adapters = Array.from({ length: 20 }, () =>
      postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 1 }),
    )
    let most = 0
    let created = 0
    const startSome = async (adapter: PostgresAdapter) => {
      for (let nth = 0; nth < 8; nth += 1) {
        const started = await start(adapter, newRun(limit('busy', 3)))
        if (started.created) created += 1
        most = Math.max(most, await rowsOf('slots', 'busy'))
      }
    }
    const endSome = async () => {
      for (let nth = 0; nth < 20; nth += 1) {
        const claimed = await store.claim({ workerId, definitionIds: [definitionId], limit: 1 })
        if (claimed === 'lost') throw new Error('the worker was lost')
        const outcomes = claimed.claims.map((claim) => completed(claim))
        await store.settle({ workerId, outcomes, handBackMax: 0, frees: claimed.claims })
      }
    }

    await Promise.all([...adapters.map(startSome), endSome()])

    expect(most).toBe(3)
    expect(created).toBeGreaterThan(3)
    await Promise.all(adapters.map((adapter) => adapter.close()))
  })

  it('a start waits for the caller who has taken the last slot, and gets it if that rolls back', async () => {
    for (const end of ['commit', 'rollback'] as const) {
      const client = await database.pool.connect()
      await client.query('begin')
      const [first] = await store.startRuns([newRun(limit(`last ${end}`))], { tx: client })
      expect(first).toMatchObject({ created: true })

      const second = start(store, newRun(limit(`last ${end}`)))
      await untilSomebodyWaits()
      await client.query(end)
      client.release()

      expect(await second).toMatchObject({ created: end === 'rollback' })
      expect(await rowsOf('slots', `last ${end}`)).toBe(1)
    }
  })

  it('two starts with one key, at once, start one run, and none of them is refused', async () => {
    const other = postgres(database.url, { schema: store.schema, listen: false })
    for (let round = 0; round < 20; round += 1) {
      const [one, two] = await Promise.all(
        [store, other].map((adapter) => start(adapter, newRun(limit(`round ${round}`), `key ${round}`))),
      )
      expect(one!.runId).toBe(two!.runId)
      expect([one!.full, two!.full]).toEqual([undefined, undefined])
      expect(await rowsOf('slots', `round ${round}`)).toBe(1)
    }
    await other.close()
  })

  it('a start that meets its key under another limit frees the slot that it took', async () => {
    const client = await database.pool.connect()
    await client.query('begin')
    await store.startRuns([newRun(limit('first'), 'same')], { tx: client })
    const second = start(store, newRun(limit('second'), 'same'))
    await untilSomebodyWaits()
    await client.query('commit')
    client.release()

    expect(await second).toMatchObject({ created: false })
    expect([await rowsOf('slots', 'first'), await rowsOf('slots', 'second')]).toEqual([1, 0])
  })

  it('a stricter transaction that is older than the last slot fails instead of exceeding the limit', async () => {
    const client = await database.pool.connect()
    await client.query('begin isolation level repeatable read')
    await client.query(`select from ${store.schema}.workflow_limit_slots`)
    expect(await start(store, newRun(limit('strict')))).toMatchObject({ created: true })

    const late = store.startRuns([newRun(limit('strict'))], { tx: client })

    await expect(late).rejects.toMatchObject({ code: '40001' })
    await client.query('rollback')
    client.release()
    expect(await rowsOf('slots', 'strict')).toBe(1)
  })

  it('a refused or repeated start leaves no row of a key behind', async () => {
    await store.setLimit({ name: 'closed', concurrency: 0 })

    expect(await start(store, newRun(limit('closed')))).toMatchObject({ created: false })

    expect(await rowsOf('keys', 'closed')).toBe(0)
  })
})
