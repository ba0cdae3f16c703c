import { randomUUID } from 'node:crypto'
import { type Claim, type Outcome, skipText } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inSchema } from '../src/connection/statement.ts'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { dropStartSlots } from '../src/start/start-limited.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

const LIMIT = 'stripe'

describe.each(servers)('limits on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  /** Runs of one step each, and a worker that has claimed them. */
  async function claimed(count: number, workflow = `limited ${randomUUID()}`) {
    const [definition] = await store.saveDefinitions([definitionOf(workflow, { a: [] })])
    const { id: definitionId } = definition!
    const runIds = Array.from({ length: count }, () => randomUUID())
    await store.startRuns(runIds.map((runId) => ({ runId, definitionId, workflow, key: null, input: null })))
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'limited', leaseMs: 600_000 })
    const claims: Claim[] = []
    while (claims.length < count) {
      const answer = await store.claim({ workerId, definitionIds: [definitionId], limit: 1_000 })
      if (answer === 'lost') throw new Error('the worker was lost')
      claims.push(...answer.claims)
    }
    return { workerId, definitionId, claims }
  }

  const enters = (claim: Claim, limit = LIMIT, key = ''): Outcome => ({
    ...claim,
    type: 'enters',
    entries: [{ limit, key, of: 'step' }],
  })

  const orSkip = (claim: Claim, limit: string): Outcome => ({
    ...claim,
    type: 'enters',
    entries: [{ limit, key: '', of: 'step', ifFull: skipText({ because: 'limit', limit, key: '' }) }],
  })

  /** Resolves once a transaction waits for another one. */
  async function untilSomebodyWaits(): Promise<void> {
    for (;;) {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (rows.length > 0) return
    }
  }

  it('many connections that enter and free at once never take more slots than there are, and lose none', async () => {
    await store.declareLimits([{ name: 'busy', concurrency: 3 }])
    const { workerId, definitionId, claims } = await claimed(120)
    const others = Array.from({ length: 4 }, () =>
      postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 2 }),
    )
    const most: number[] = []
    let done = 0
    let waiting = [...claims]
    const look = async () => {
      const { rows } = await database.pool.query(
        `select count(*)::int as taken from ${store.schema}.workflow_limit_slots where limit_name = 'busy' group by key`,
      )
      for (const { taken } of rows) most.push(taken)
    }
    const work = async (adapter: PostgresAdapter) => {
      while (done < claims.length) {
        const batch = waiting.splice(0, 7)
        if (batch.length === 0) {
          const answer = await adapter.claim({ workerId, definitionIds: [definitionId], limit: 5 })
          if (answer !== 'lost') waiting.push(...answer.claims)
          continue
        }
        const outcomes = batch.map((claim) => enters(claim, 'busy', claim.runId < '8' ? 'low' : 'high'))
        const { results } = await adapter.settle({ workerId, outcomes, handBackMax: 0 })
        const entered = batch.filter((_, index) => results[index] === 'settled')
        await look()
        const ends = entered.map((claim) => completed(claim))
        await adapter.settle({ workerId, outcomes: ends, handBackMax: 0, frees: ends })
        done += entered.length
      }
    }

    await Promise.all(others.map(work))

    waiting = []
    expect(Math.max(...most)).toBeLessThanOrEqual(3)
    expect(await store.readLimits(['busy'])).toMatchObject([{ inUse: 0, waiting: 0 }])
    const { rows } = await database.pool.query(
      `select from ${store.schema}.workflow_limit_keys where limit_name = 'busy'`,
    )
    expect(rows).toEqual([])
    await Promise.all(others.map((adapter) => adapter.close()))
  })

  it('a freeing that waits for the key sees the step that was parked meanwhile', async () => {
    await store.declareLimits([{ name: LIMIT, concurrency: 1 }])
    const { workerId, definitionId, claims } = await claimed(2)
    const [first, second] = claims as [Claim, Claim]
    await store.settle({ workerId, outcomes: [enters(first)], handBackMax: 0 })
    const client = await database.pool.connect()
    await client.query('begin')
    await client.query(
      `select * from ${store.schema}.enter_limits($1, array[$2::uuid], array[0], array[1], array[$3::int], array[1], array[$4::text], array[''], array[false], array[false])`,
      [workerId, second.runId, definitionId, LIMIT],
    )

    const end = completed(first)
    const freeing = store.settle({ workerId, outcomes: [end], handBackMax: 0, frees: [end] })
    await untilSomebodyWaits()
    await client.query('commit')
    client.release()

    expect((await freeing).queued).toBe(true)
    expect(await store.claim({ workerId, definitionIds: [definitionId], limit: 5 })).toMatchObject({
      claims: [{ runId: second.runId }],
    })
  })

  it('of two that want the last slot at once, one has it and the other is skipped, whoever comes first', async () => {
    await store.declareLimits([{ name: 'last', concurrency: 1 }])
    const { workerId, claims } = await claimed(40)
    const [one, other] = [0, 1].map(() =>
      postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 2 }),
    )
    for (let pair = 0; pair < claims.length; pair += 2) {
      const asked = claims.slice(pair, pair + 2).map((claim) => orSkip(claim, 'last'))
      const settlements = await Promise.all(
        [one!, other!].map((adapter, n) =>
          adapter.settle({ workerId, outcomes: [asked[n]!], handBackMax: 0 }),
        ),
      )
      const results = settlements.map(({ results: [result] }) => (result === 'settled' ? 'entered' : 'full'))
      expect([...results].sort()).toEqual(['entered', 'full'])
      const end = completed(claims[pair + results.indexOf('entered')]!)
      await store.settle({ workerId, outcomes: [end], handBackMax: 0, frees: [end] })
    }
    const { rows } = await database.pool.query(
      `select status, count(*)::int from ${store.schema}.workflow_steps where run_id = any ($1) group by status order by status`,
      [claims.map(({ runId }) => runId)],
    )
    expect(rows).toEqual([
      { status: 'completed', count: 20 },
      { status: 'skipped', count: 20 },
    ])
    expect(await store.readLimits(['last'])).toMatchObject([{ inUse: 0, waiting: 0 }])
    await Promise.all([one!.close(), other!.close()])
  })

  it('one that asks while the holder ends either has its slot or is skipped, and nothing is left over', async () => {
    await store.declareLimits([{ name: 'ending', concurrency: 1 }])
    const { workerId, claims } = await claimed(30)
    let holder = claims[0]!
    await store.settle({ workerId, outcomes: [orSkip(holder, 'ending')], handBackMax: 0 })
    for (const claim of claims.slice(1)) {
      const end = completed(holder)
      const [, asked] = await Promise.all([
        store.settle({ workerId, outcomes: [end], handBackMax: 0, frees: [end] }),
        store.settle({ workerId, outcomes: [orSkip(claim, 'ending')], handBackMax: 0 }),
      ])
      if (asked.results[0] !== 'settled') {
        expect(asked.results).toMatchObject([{ full: { limit: 'ending' } }])
        expect(await store.readStatuses([claim.runId], { stored: true })).toMatchObject([
          { status: 'completed' },
        ])
        const next = claims[claims.indexOf(claim) + 1]
        if (next === undefined) break
        continue
      }
      holder = claim
    }
    const end = completed(holder)
    await store.settle({ workerId, outcomes: [end], handBackMax: 0, frees: [end] })
    expect(await store.readLimits(['ending'])).toMatchObject([{ inUse: 0, waiting: 0 }])
  })

  it('while a step is being skipped, nobody sees it in between: it is held, and then it is skipped', async () => {
    await store.declareLimits([{ name: 'closed', concurrency: 1 }])
    const { workerId, claims } = await claimed(2)
    await store.settle({ workerId, outcomes: [orSkip(claims[0]!, 'closed')], handBackMax: 0 })
    const client = await database.pool.connect()
    await client.query('begin')
    // The last thing that the skip needs, after it has decided.
    await client.query(`select from ${store.schema}.workflow_runs where id = $1 for update`, [
      claims[1]!.runId,
    ])

    const skipping = store.settle({ workerId, outcomes: [orSkip(claims[1]!, 'closed')], handBackMax: 0 })
    await untilSomebodyWaits()
    const seen = await database.pool.query(
      `select status from ${store.schema}.workflow_steps where run_id = $1`,
      [claims[1]!.runId],
    )
    await client.query('commit')
    client.release()

    expect(seen.rows).toEqual([{ status: 'running' }])
    expect((await skipping).results).toMatchObject([{ full: { limit: 'closed' } }])
  })

  it('a hundred thousand steps that wait cost those who enter, free and tend nothing, nor do slots for which nobody waits', async () => {
    await store.declareLimits([{ name: 'crowded', concurrency: 1 }])
    const { workerId, claims } = await claimed(3)
    const [holder, own, other] = claims as [Claim, Claim, Claim]
    await store.settle({
      workerId,
      outcomes: [enters(holder, 'crowded', 'large'), enters(own, 'crowded', 'large')],
      handBackMax: 0,
    })
    await database.pool.query(
      `insert into ${store.schema}.workflow_limit_waiters (run_id, step, fence, since, limit_name, key, limits, keys, of_run)
       select gen_random_uuid(), 0, 1, now(), 'crowded', 'large', array['crowded'], array['large'], array[false] from generate_series(1, 100000)`,
    )
    await database.pool.query(
      `insert into ${store.schema}.workflow_limit_slots (run_id, step, fence, definition_id, since, is_given, limit_name, key)
       select gen_random_uuid(), -1, 0, $1, now(), false, 'runs of one customer', n::text from generate_series(1, 20000) n`,
      [holder.definitionId],
    )
    const buffers = async (text: string, values: readonly unknown[], before = 'select 1') => {
      const client = await database.pool.connect()
      try {
        const explained = async () => {
          await client.query('begin')
          await client.query(before)
          const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values])
          await client.query('rollback')
          return rows
        }
        // A connection reads the catalog when it calls a function for the first time.
        await explained()
        const rows = await explained()
        const plan = rows[0]['QUERY PLAN'][0].Plan
        return (plan['Shared Hit Blocks'] as number) + (plan['Shared Read Blocks'] as number)
      } finally {
        client.release()
      }
    }
    const { schema } = store

    const entering = await buffers(
      `select * from ${schema}.enter_limits($1, array[$2::uuid], array[0], array[1], array[$3::int], array[1], array['crowded'], array['large'], array[false], array[false])`,
      [workerId, other.runId, other.definitionId],
    )
    const leaving = await buffers(
      `select * from ${schema}.enter_limits($1, array[$2::uuid], array[0], array[1], array[$3::int], array[1], array['crowded'], array['large'], array[false], array[true])`,
      [workerId, other.runId, other.definitionId],
    )
    const newRun = ['0190b1a0-0000-7000-8000-000000000001', other.definitionId]
    const starting = await buffers(
      `select * from ${schema}.take_start_slots(array[$1::uuid], array[$2::int], array['limited'], array[null::text], array[1], array['crowded'], array['large'], array[1], '500ms')`,
      newRun,
    )
    const dropping = await buffers(inSchema(dropStartSlots.text, schema), [[newRun[0]]])
    const tending = await buffers(`select * from ${schema}.tend_limits(null, null, 500, false, false)`, [])
    const freeing = await buffers(
      `select ${schema}.free_limits(array[$1::uuid], array[0], array[1], null)`,
      [holder.runId],
      `update ${schema}.workflow_steps set status = 'completed', finished_at = now() where run_id = '${holder.runId}'`,
    )

    // The line alone fills more than a thousand.
    for (const [what, blocks] of Object.entries({
      entering,
      leaving,
      starting,
      dropping,
      tending,
      freeing,
    })) {
      expect(blocks, what).toBeLessThan(300)
    }
    await database.pool.query(`truncate ${schema}.workflow_limit_waiters, ${schema}.workflow_limit_slots`)
  })
})
