import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Adapter, type Claim, ENDS } from '@belay/workflow/adapter'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { pruneEndedRuns } from '../src/retention/prune-runs.ts'
import { renewWorker } from '../src/workers/registration.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

const LATER = Date.UTC(2100, 0, 1)

/** Runs of one chain in a store, and the worker that works on them. */
async function given(adapter: Adapter) {
  const [definition] = await adapter.saveDefinitions([definitionOf('chain', { a: [], b: ['a'] })])
  const definitionId = definition!.id
  const workerId = randomUUID()
  await adapter.registerWorker({ workerId, name: 'worker', leaseMs: 600_000 })
  const start = async (key: string | null = null): Promise<string> => {
    const runId = randomUUID()
    await adapter.startRuns([{ runId, definitionId, workflow: 'chain', key, input: null }])
    return runId
  }
  const claim = async (by: Adapter = adapter): Promise<readonly Claim[]> => {
    const claimed = await by.claim({ workerId, definitionIds: [definitionId], limit: 100 })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }
  const settle = (claims: readonly Claim[], by: Adapter = adapter) =>
    by.settle({ workerId, outcomes: claims.map(completed), handBackMax: 100 })
  /** A run that has completed. */
  const ended = async (key: string | null = null): Promise<string> => {
    const runId = await start(key)
    for (let claims = await claim(); claims.length > 0; claims = await claim()) {
      await settle((await settle(claims)).claims)
    }
    return runId
  }
  return { definitionId, workerId, start, claim, settle, ended }
}

describe.each(servers)('upkeep on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  const text = (statement: string) => inSchema(statement, store.schema)

  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** A store of its own, and a second adapter on it with a very short lock timeout. */
  async function impatient({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
    store = await createStore(database)
    const pool = new pg.Pool({ connectionString: database.url, options: '-c lock_timeout=200' })
    const adapter = postgres(pool, { schema: store.schema, listen: false })
    await adapter.open()
    const client = await database.pool.connect()
    onTestFinished(async () => {
      await client.query('rollback')
      client.release()
      await adapter.close()
      await pool.end()
    })
    return { adapter, client }
  }

  it('pruning does not block starts, claims, settlements, renewals or sweeps', async (context) => {
    const { adapter, client } = await impatient(context)
    const { workerId, definitionId, start, claim, settle, ended } = await given(store)
    const old = [await ended(), await ended()]
    const live = await start()
    await start()
    const claims = await claim()

    await client.query('begin')
    const { rowCount } = await client.query(text(pruneEndedRuns.text), [old, LATER])
    const settled = await settle(claims, adapter)
    await adapter.startRuns([
      { runId: randomUUID(), definitionId, workflow: 'chain', key: 'new', input: null },
    ])
    const more = await claim(adapter)
    const renewed = await adapter.renew({ workerId, leaseMs: 600_000 })
    await adapter.sweep({ limit: 100 })
    await adapter.cancelRuns({ runIds: [live, ...old], cause: '{"type":"cancelled"}' })
    const drained = await adapter.drain({ definitionIds: [definitionId], limit: 10 })
    await client.query('commit')

    expect(rowCount).toBe(2)
    expect(settled.results).toEqual(['settled', 'settled'])
    expect(settled.claims).toHaveLength(2)
    expect(more).toHaveLength(1)
    expect(renewed).not.toBe('lost')
    // The cancelled run is not drained: its second step is in flight.
    expect(drained).toEqual([])
    expect(await store.readStatuses(old)).toEqual([])
    expect(await store.readStatuses([live])).toEqual([{ runId: live, status: 'compensating' }])
  })

  it('pruning does not wait for work on live runs', async (context) => {
    const { adapter, client } = await impatient(context)
    const { start, ended } = await given(store)
    const old = await ended()
    const live = await start()

    await client.query('begin')
    await client.query(text('lock table belay.workflow_ready, belay.workflow_steps in row exclusive mode'))
    await client.query(text('select from belay.workflow_runs where id = $1 for update'), [live])
    await client.query(text('select from belay.workflow_steps where run_id = $1 for update'), [live])
    const found = await adapter.findEnded({ finishedBefore: LATER, statuses: ENDS, after: null, limit: 10 })
    const pruned = await adapter.prune({ runIds: [live, old], finishedBefore: LATER })

    expect(found.runIds).toEqual([old])
    expect(pruned).toEqual([old])
  })

  it.for([
    ['its steps', 'select from belay.workflow_steps where run_id = $1 order by step for update'],
    ['its row', 'select from belay.workflow_runs where id = $1 for update'],
  ] as const)(
    'a run of which another transaction has locked %s is left out entirely, and pruned later',
    async ([, lock], context) => {
      const { adapter, client } = await impatient(context)
      const { ended } = await given(store)
      const [changing, other] = [await ended('one'), await ended('two')]
      const request = { runIds: [changing, other], finishedBefore: LATER }

      await client.query('begin')
      await client.query(text(lock), [changing])
      const meanwhile = await adapter.prune(request)
      const whole = (await adapter.readRun(changing))?.steps.length
      await client.query('commit')

      expect(meanwhile).toEqual([other])
      expect(whole).toBe(2)
      expect(await adapter.prune(request)).toEqual([changing])
    },
  )

  it('a run that is sent forward while it is pruned is deleted entirely or kept entirely', async (context) => {
    const { adapter, client } = await impatient(context)
    const { ended } = await given(store)
    const met = { pruned: 0, sentForward: 0 }
    /** As the port's verb does it: first the steps, then the run, and only if it has ended. */
    const sendForward = async (run: string) => {
      await client.query('begin')
      await client.query(
        text('select from belay.workflow_steps where run_id = $1 order by step for update'),
        [run],
      )
      const { rowCount } = await client.query(
        text(`update belay.workflow_runs set status = 'running', finished_at = null, open_steps = 1
          where id = $1 and finished_at is not null`),
        [run],
      )
      await client.query('commit')
      return rowCount === 1
    }

    for (let round = 0; round < 60; round += 1) {
      const run = await ended()
      const [forward, pruned] = await Promise.all([
        sendForward(run),
        adapter.prune({ runIds: [run], finishedBefore: LATER }),
      ])
      expect(forward).toBe(pruned.length === 0)
      expect((await adapter.readRun(run))?.steps.length).toBe(forward ? 2 : undefined)
      met[forward ? 'sentForward' : 'pruned'] += 1
    }

    expect(met.pruned + met.sentForward).toBe(60)
  })

  it('signals and history of a pruned run are deleted with it; those of other runs stay', async (context) => {
    const { adapter } = await impatient(context)
    const { start, ended } = await given(store)
    const runs = [await ended(), await start()]
    for (const run of runs) {
      await database.pool.query(
        text(
          `insert into belay.workflow_signals (run_id, step, received_at, key) values ($1, 0, now(), 'k')`,
        ),
        [run],
      )
      await database.pool.query(
        text(`insert into belay.workflow_history (run_id, at, action) values ($1, now(), 'paused')`),
        [run],
      )
    }

    await adapter.prune({ runIds: runs, finishedBefore: LATER })

    for (const table of ['steps', 'signals', 'history']) {
      const { rows } = await database.pool.query(text(`select distinct run_id from belay.workflow_${table}`))
      expect(rows, table).toEqual([{ run_id: runs[1] }])
    }
  })

  it('a renewal stays on the page of its row and touches no index', async (context) => {
    const { client } = await impatient(context)
    const { workerId } = await given(store)
    const count = async () => {
      const { rows } = await client.query(
        'select pg_stat_get_xact_tuples_updated($1::regclass)::int as updated, pg_stat_get_xact_tuples_hot_updated($1::regclass)::int as hot',
        [`${store.schema}.workflow_workers`],
      )
      return rows[0]
    }

    await client.query('begin')
    for (let busy = 1; busy <= 5; busy += 1) {
      await client.query(text(renewWorker.text), [workerId, 30_000, busy, 0])
    }

    expect(await count()).toEqual({ updated: 5, hot: 5 })
  })

  it('a worker is registered under its machine’s name, unless it has another', async (context) => {
    await impatient(context)
    await given(store)
    await store.registerWorker({ workerId: randomUUID(), name: 'w', leaseMs: 1_000, host: 'pod-7' })

    expect((await store.listWorkers({ limit: 10 })).map(({ host }) => host)).toEqual([hostname(), 'pod-7'])
  })

  it('a step removed from the queue by hand is found, and so is one whose worker was deleted', async (context) => {
    await impatient(context)
    const { start, claim, settle } = await given(store)
    const [unqueued, unheld] = [await start(), await start()]
    const claims = await claim()
    await settle(claims.filter(({ runId }) => runId === unheld))
    await store.settle({
      workerId: (await store.listWorkers({ limit: 1 }))[0]!.workerId,
      outcomes: claims
        .filter(({ runId }) => runId === unqueued)
        .map((claimed) => ({ ...claimed, type: 'released' })),
      handBackMax: 0,
    })
    const before = await store.diagnose({ overdueMs: 60_000, recentMs: 60_000 })
    await database.pool.query(text('delete from belay.workflow_ready; delete from belay.workflow_workers'))

    const { strandedSteps } = await store.diagnose({ overdueMs: 60_000, recentMs: 60_000 })

    expect(before.strandedSteps).toEqual([])
    const chain = { workflow: 'chain', version: 1 }
    expect([...strandedSteps].sort((one, two) => (one.fault < two.fault ? -1 : 1))).toEqual([
      { ...chain, runId: unheld, name: 'b', fault: 'unheld' },
      { ...chain, runId: unqueued, name: 'a', fault: 'unqueued' },
    ])
  })

  it('a paused run’s age counts from the last thing that an operator did to it', async (context) => {
    await impatient(context)
    const { start } = await given(store)
    const run = await start()
    await database.pool.query(
      text(`update belay.workflow_runs set status = 'paused', created_at = now() - interval '9 days'`),
    )
    const never = (await store.diagnose({ overdueMs: 0, recentMs: 0 })).liveRuns[0]!.oldestSince
    await database.pool.query(
      text(`insert into belay.workflow_history (run_id, at, action)
        values ($1, now() - interval '2 days', 'a'), ($1, now() - interval '1 day', 'b')`),
      [run],
    )

    const { now, liveRuns, strandedSteps, store: facts } = await store.diagnose({ overdueMs: 0, recentMs: 0 })

    expect(Math.round((now - never) / 86_400_000)).toBe(9)
    expect(liveRuns).toMatchObject([{ status: 'paused', runs: 1, runIds: [run] }])
    expect(Math.round((now - liveRuns[0]!.oldestSince) / 86_400_000)).toBe(1)
    expect(strandedSteps).toEqual([])
    expect(facts).toMatchObject({
      adapter: 'postgres',
      schema: store.schema,
      server: expect.stringMatching(/^1\d\.\d/),
      migration: expect.stringMatching(/^\d{4}_/),
    })
  })
})

it('a worker in PGlite is registered under its machine’s name', async ({ onTestFinished }) => {
  const adapter = pglite()
  onTestFinished(() => adapter.close())
  await adapter.open()
  await adapter.registerWorker({ workerId: randomUUID(), name: 'w', leaseMs: 1_000 })

  expect((await adapter.listWorkers({ limit: 1 }))[0]?.host).toBe(hostname())
})
