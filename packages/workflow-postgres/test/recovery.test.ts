import { randomUUID } from 'node:crypto'
import type { Claim, SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { assertJournaled } from './setup/journal.ts'
import { completed } from './setup/outcomes.ts'

describe.each(servers)('finding the steps that a worker holds, on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  const query = (text: string, values: unknown[] = []) =>
    database.pool.query(text.replaceAll('belay.', `${store.schema}.`), values)

  const save = async (name: string, edges: Record<string, string[]>): Promise<SavedDefinition> =>
    (await store.saveDefinitions([definitionOf(name, edges)]))[0]!

  async function register(leaseMs = 600_000): Promise<string> {
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'w', leaseMs })
    return workerId
  }

  async function start(
    { id: definitionId, name: workflow }: SavedDefinition,
    count: number,
  ): Promise<string[]> {
    const runIds = Array.from({ length: count }, () => randomUUID())
    await store.startRuns(runIds.map((runId) => ({ runId, definitionId, workflow, key: null, input: null })))
    return runIds
  }

  async function claim(workerId: string, { id }: SavedDefinition, limit: number): Promise<readonly Claim[]> {
    const claimed = await store.claim({ workerId, definitionIds: [id], limit })
    return claimed === 'lost' ? [] : claimed.claims
  }

  const journalOf = async (workerId: string): Promise<readonly (readonly string[])[]> => {
    const { rows } = await query(
      'select run_ids::text[] as run_ids from belay.workflow_leases where worker_id = $1 order by id',
      [workerId],
    )
    return rows.map((row) => row.run_ids)
  }

  it('every leased step is in a journal, whatever its worker does while held runs over and over', async () => {
    const definition = await save('storm', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] })
    // A separate pool, as in another process: it also remembers the journal separately.
    const other = postgres(database.url, { schema: store.schema, listen: false })
    const workers = [await register(), await register()]
    let working = true
    const work = async (workerId: string, adapter: PostgresAdapter) => {
      for (let round = 0; round < 25; round += 1) {
        const { id: definitionId, name: workflow } = definition
        const runs = Array.from({ length: 3 }, () => ({
          runId: randomUUID(),
          definitionId,
          workflow,
          key: null,
          input: null,
        }))
        const started = await adapter.startRuns(runs, { lease: { workerId, handBackMax: round % 3 } })
        const claimed = await adapter.claim({ workerId, definitionIds: [definitionId], limit: 4 })
        let open = [
          ...started.flatMap(({ claims = [] }) => claims),
          ...(claimed === 'lost' ? [] : claimed.claims),
        ]
        for (let turn = 0; open.length > 0; turn += 1) {
          const outcomes = open.map((one, index) =>
            (turn + index + round) % 7 === 0 ? { ...one, type: 'released' as const } : completed(one),
          )
          open = [...(await adapter.settle({ workerId, outcomes, handBackMax: 3 })).claims]
        }
      }
    }
    const watch = async (workerId: string) => {
      while (working) {
        await Promise.all([store.held({ workerId }), other.held({ workerId })])
        await assertJournaled(query, store.schema)
      }
    }

    const watching = Promise.all(workers.map(watch))
    await Promise.all(workers.flatMap((workerId) => [work(workerId, store), work(workerId, other)]))
    working = false
    await watching

    await assertJournaled(query, store.schema)
    for (const workerId of workers) {
      const held = await store.held({ workerId })
      const { rows } = await query(
        `select run_id, step from belay.workflow_steps where worker_id = $1 and status = 'running'`,
        [workerId],
      )
      expect(held).toHaveLength(rows.length)
    }
  })

  it('the next claim removes journal rows of ended runs, and held leaves one row for the steps held', async () => {
    const definition = await save('trimmed', { a: [], b: ['a'] })
    const workerId = await register()
    await start(definition, 4)
    const [first] = await claim(workerId, definition, 1)
    const [second] = await claim(workerId, definition, 1)
    const { claims } = await store.settle({ workerId, outcomes: [completed(first!)], handBackMax: 1 })
    await store.settle({ workerId, outcomes: claims.map(completed), handBackMax: 1 })
    expect(await journalOf(workerId)).toEqual([[first!.runId], [second!.runId]])

    const [third, fourth] = await claim(workerId, definition, 2)
    expect(await journalOf(workerId)).toEqual([[second!.runId], expect.any(Array)])
    await store.settle({ workerId, outcomes: [{ ...third!, type: 'released' }], handBackMax: 0 })
    const held = await store.held({ workerId })

    expect(held.map(({ runId }) => runId).sort()).toEqual([second!.runId, fourth!.runId].sort())
    const [row, ...more] = await journalOf(workerId)
    expect([...row!].sort()).toEqual([second!.runId, fourth!.runId].sort())
    expect(more).toEqual([])
  })

  it('a run that was sent forward again stays in the journal when its earlier end is reported late', async () => {
    const definition = await save('reopened', { a: [] })
    const workerId = await register()
    await start(definition, 1)
    const [first] = await claim(workerId, definition, 1)
    await query(`update belay.workflow_steps set status = 'ready', worker_id = null where run_id = $1`, [
      first!.runId,
    ])
    await query(
      `insert into belay.workflow_ready (available_at, definition_id, step, fence, run_id) values (now(), $1, 0, 1, $2)`,
      [definition.id, first!.runId],
    )
    const [again] = await claim(workerId, definition, 1)

    await claim(workerId, definition, 1)

    expect(again).toMatchObject({ runId: first!.runId, fence: 2 })
    await assertJournaled(query, store.schema)
    expect(await store.held({ workerId })).toMatchObject([{ runId: first!.runId, fence: 2 }])
  })

  it('the steps of a worker older than the journal are found when it dies, in bounded parts', async () => {
    const definition = await save('before', { a: [] })
    const workerId = await register(0)
    const runIds = await start(definition, 600)
    await claim(workerId, definition, 600)
    await query('update belay.workflow_workers set journaled = false where id = $1', [workerId])
    await query('delete from belay.workflow_leases where worker_id = $1', [workerId])
    expect(await store.listHeld({ workerId, limit: 1_000 })).toHaveLength(600)

    const recovered: string[] = []
    for (let more = true; more; ) {
      const swept = await store.sweep({ limit: 250 })
      recovered.push(...swept.recovered.map(({ runId }) => runId))
      more = swept.more
    }

    expect(recovered.sort()).toEqual(runIds.sort())
    const { rows } = await query('select from belay.workflow_workers where id = $1', [workerId])
    expect(rows).toEqual([])
    expect(await journalOf(workerId)).toEqual([])
  })

  it('a journal left behind by older code is removed when a worker registers', async () => {
    const definition = await save('orphaned', { a: [] })
    const gone = await register()
    await start(definition, 1)
    const claims = await claim(gone, definition, 1)
    await store.settle({ workerId: gone, outcomes: claims.map(completed), handBackMax: 0 })
    await query('delete from belay.workflow_workers where id = $1', [gone])

    await register()

    expect(await journalOf(gone)).toEqual([])
  })

  it('a worker that leaves while one of its claims is under way is left to the sweep', async () => {
    const definition = await save('leaving', { a: [] })
    const workerId = await register()
    const holder = await database.pool.connect()
    await holder.query('begin')
    // As a claim does, until it has committed.
    await holder.query(`select from ${store.schema}.workflow_workers where id = $1 for key share`, [workerId])

    await store.deregisterWorker({ workerId })
    const { rows } = await query('select status from belay.workflow_workers where id = $1', [workerId])
    await holder.query('rollback')
    holder.release()

    expect(rows).toEqual([{ status: 'live' }])
    expect((await store.sweep({ limit: 10 })).lostWorkers).toContain(workerId)
    expect(await claim(workerId, definition, 1)).toEqual([])
  })
})
