import { BelayError, createEngine, define, unchecked } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const PROCESSES = 4
const CALLS = 250

const input = unchecked<{ readonly key: string; readonly n: number }>()
const edited = define('edited', { version: 1, input, start: { debounce: '1h', key: 'key' } }).step('a', {
  run: ({ input }) => input.n,
})
const batched = define('batched', {
  version: 1,
  input,
  start: { batch: { max: 1_000, within: '1h' }, key: 'key' },
}).step('a', { run: ({ input }) => input.length })

describe.each(servers)('collected calls of several processes on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  /** Engines with a pool each, as in processes of their own. */
  function processes(count: number) {
    const adapters = Array.from({ length: count }, () =>
      postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 3 }),
    )
    return adapters.map((adapter) => createEngine({ adapter, workflows: [edited, batched] }))
  }

  it('a thousand calls with one key at once are one run, and nobody deadlocks', async () => {
    const engines = processes(PROCESSES)
    const key = 'burst'
    const handles = await Promise.all(
      engines.flatMap((engine, process) =>
        Array.from({ length: CALLS }, (_, n) => engine.run(edited, { key, n: process * CALLS + n })),
      ),
    )
    const [run] = handles
    const last = handles.find(({ collected }) => collected?.calls === PROCESSES * CALLS)

    expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
    expect(handles.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(handles.map(({ collected }) => collected?.calls)).size).toBe(PROCESSES * CALLS)
    expect(await run!.status()).toMatchObject({
      input: { n: handles.indexOf(last!) },
      collected: { calls: PROCESSES * CALLS, collecting: true },
    })
    await Promise.all(engines.map((engine) => engine.close()))
  })

  it('batches of the same keys in any order hold every call once, in the order of its process', async () => {
    const engines = processes(PROCESSES)
    const keys = Array.from({ length: 10 }, (_, index) => `key ${index}`)
    await Promise.all(
      engines.map(async (engine, process) => {
        const own = process % 2 === 0 ? keys : [...keys].reverse()
        for (let round = 0; round < 5; round += 1) {
          const calls = own.map((key) => ({ input: { key, n: process * 100 + round } }))
          await Promise.all([engine.runMany(batched, calls), engine.runMany(batched, calls.slice(0, 3))])
        }
      }),
    )
    const runs = await engines[0]!.runs.list({ workflow: 'batched', limit: 100 })
    const inputs = runs.flatMap((run) => run.input as readonly { key: string; n: number }[])

    expect(runs).toHaveLength(keys.length)
    expect(inputs).toHaveLength(PROCESSES * 5 * 13)
    for (const { input: items } of runs as readonly { readonly input: readonly { n: number }[] }[])
      for (let process = 0; process < PROCESSES; process += 1) {
        const own = items.map(({ n }) => n).filter((n) => Math.floor(n / 100) === process)
        expect(own).toEqual(own.toSorted((one, other) => one - other))
      }
    await Promise.all(engines.map((engine) => engine.close()))
  })

  it('a COMMIT whose answer is lost counts its calls once', async () => {
    const [engine] = processes(1)
    const lossy = lossyAdapter(postgres(database.url, { schema: store.schema, listen: false }))
    const caller = createEngine({ adapter: lossy.adapter, workflows: [batched] })
    const handles = await Promise.all([1, 2].map((n) => caller.run(batched, { key: 'lost', n })))
    const third = await engine!.run(batched, { key: 'lost', n: 3 })

    expect(lossy.lost()).toBe(1)
    expect(third.collected).toMatchObject({ joined: true, calls: 3 })
    expect((await handles[0]!.status()).input).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }])
    await Promise.all([caller.close(), engine!.close()])
  })

  it('an open transaction holds up only its own key', async () => {
    const [engine] = processes(1)
    const client: PoolClient = await database.pool.connect()
    await client.query('begin')
    const held = await engine!.run(batched, { key: 'held', n: 1 }, { tx: client })
    const waiting = engine!.run(batched, { key: 'held', n: 2 })
    const other = await engine!.run(batched, { key: 'free', n: 1 })
    await client.query('rollback')
    client.release()

    expect(other).toMatchObject({ created: true })
    expect(await waiting).toMatchObject({ created: true, collected: { calls: 1 } })
    expect(await engine!.runs.get(held.id)).toBeUndefined()
    await engine!.close()
  })

  it('two transactions that call with two keys in opposite order end: one of them is rolled back', async () => {
    const [engine] = processes(1)
    const [one, two] = [await database.pool.connect(), await database.pool.connect()]
    for (const client of [one, two]) await client.query('begin')
    await engine!.run(batched, { key: 'x', n: 1 }, { tx: one })
    await engine!.run(batched, { key: 'y', n: 2 }, { tx: two })
    const ends = await Promise.allSettled([
      engine!.run(batched, { key: 'y', n: 3 }, { tx: one }),
      engine!.run(batched, { key: 'x', n: 4 }, { tx: two }).finally(() => two.query('rollback')),
    ])
    await one.query('rollback')
    one.release()
    two.release()

    expect(ends.map(({ status }) => status)).toContain('rejected')
    expect(await engine!.run(batched, { key: 'x', n: 5 })).toMatchObject({ created: true })
    await engine!.close()
  })
})

/** Loses the answer to the first call that collects. */
function lossyAdapter(adapter: PostgresAdapter): { readonly adapter: Adapter; readonly lost: () => number } {
  let lost = 0
  const collectCalls: Adapter['collectCalls'] = async (calls, options) => {
    const collected = await adapter.collectCalls(calls, options)
    if (lost > 0) return collected
    lost += 1
    throw new BelayError('store_unavailable', 'The connection was lost.')
  }
  return { adapter: { ...adapter, collectCalls }, lost: () => lost }
}
