import { randomUUID } from 'node:crypto'
import { createEngine } from '@belay/workflow'
import type { Adapter, Claim, SavedDefinition } from '@belay/workflow/adapter'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresAdapter } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'

// Another transaction holds a row that Belay needs: no other call may wait for it, and none may wait for ever.
describe.each(servers)('a row locked by another transaction, on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  const save = async (name: string, edges: Record<string, string[]>): Promise<SavedDefinition> =>
    (await store.saveDefinitions([definitionOf(name, edges)]))[0]!

  const newRun = ({ id: definitionId, name: workflow }: SavedDefinition, key: string | null = null) => ({
    runId: randomUUID(),
    definitionId,
    workflow,
    key,
    input: null,
  })

  async function start(definition: SavedDefinition): Promise<string> {
    const run = newRun(definition)
    await store.startRuns([run])
    return run.runId
  }

  async function register(leaseMs = 600_000): Promise<string> {
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'w', leaseMs })
    return workerId
  }

  async function claim(workerId: string, { id }: SavedDefinition, limit: number): Promise<readonly Claim[]> {
    const claimed = await store.claim({ workerId, definitionIds: [id], limit })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }

  /** Does work while another session holds the locks of the given statement. */
  async function whileHolding<Result>(
    text: string,
    values: readonly unknown[],
    work: (holder: PoolClient) => Promise<Result>,
  ): Promise<Result> {
    const holder = await database.pool.connect()
    try {
      await holder.query('begin')
      await holder.query(text.replaceAll('belay.', `${store.schema}.`), [...values])
      return await work(holder)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  }

  const STEPS_OF = 'select from belay.workflow_steps where run_id = any ($1::uuid[]) for update'

  it('a value whose row is locked is left for later, and the values of other runs are stored', async () => {
    const definition = await save('told', { a: [] })
    const workerId = await register()
    const [held, free] = [await start(definition), await start(definition)]
    const claims = await claim(workerId, definition, 2)
    const told = (runId: string, sequence: number) => {
      const { fence } = claims.find((one) => one.runId === runId)!
      return { runId, step: 0, fence, key: 'k', sequence, ageMs: 0, value: String(sequence) }
    }
    const publish = (sequence: number) =>
      store.publish({ workerId, values: [told(held, sequence), told(free, sequence)], keysMax: 10 })
    expect(await publish(1)).toEqual(['stored', 'stored'])

    const rows = 'select from belay.workflow_values where run_id = any ($1::uuid[]) for update'
    expect(await whileHolding(rows, [[held]], () => publish(2))).toEqual(['busy', 'stored'])

    expect(await publish(3)).toEqual(['stored', 'stored'])
    const values = await store.readValues(held)
    expect(values?.map(({ value }) => value)).toEqual(['3'])
  })

  it('a claim skips a locked step, and a later one takes it', async () => {
    const definition = await save('passed', { a: [] })
    const workerId = await register()
    const [held, free] = [await start(definition), await start(definition)]

    const first = await whileHolding(STEPS_OF, [[held]], () => claim(workerId, definition, 2))

    expect(first.map(({ runId }) => runId)).toEqual([free])
    expect((await claim(workerId, definition, 2)).map(({ runId }) => runId)).toEqual([held])
  })

  it('a claim finds steps behind more locked steps than it may take', async () => {
    const definition = await save('behind', { a: [] })
    const workerId = await register()
    const held: string[] = []
    for (let count = 0; count < 5; count += 1) held.push(await start(definition))
    const free = await start(definition)

    const claims = await whileHolding(STEPS_OF, [held], () => claim(workerId, definition, 1))

    expect(claims.map(({ runId }) => runId)).toEqual([free])
    expect(await claim(workerId, definition, 10)).toHaveLength(5)
  })

  it('a claim with limit 5 finds one new run behind 5,000 cancelled ones', async () => {
    const definition = await save('stale', { a: [] })
    const workerId = await register()
    const runs = Array.from({ length: 5_000 }, () => newRun(definition))
    await store.startRuns(runs)
    await store.cancelRuns({ runIds: runs.map(({ runId }) => runId), cause: '{"type":"cancelled"}' })
    const runId = await start(definition)

    let [calls, found] = [0, [] as readonly string[]]
    for (let more = true; more && found.length === 0; calls += 1) {
      const claimed = await store.claim({ workerId, definitionIds: [definition.id], limit: 5 })
      if (claimed === 'lost') return expect.fail('The worker was lost.')
      found = claimed.claims.map((one) => one.runId)
      more = claimed.more
    }

    expect(found).toEqual([runId])
    // A slow machine may need several calls. Each returns at once that there is more.
    expect(calls).toBeLessThan(10)
  })

  it('once a pause has resolved, a claim that began before it starts no step', async () => {
    const definition = await save('paused', { a: [], b: [], c: ['a'] })
    const engine = createEngine({ adapter: store as Adapter })
    for (const round of ['ready', 'waiting'] as const) {
      const workerId = await register()
      const runId = await start(definition)
      if (round === 'waiting') {
        const claims = await claim(workerId, definition, 2)
        const outcomes = claims.map((one) => ({ ...one, type: 'waiting' as const, wake: { afterMs: 0 } }))
        await store.settle({ workerId, outcomes, handBackMax: 0 })
      }

      const claimed = await whileHolding(
        'select from belay.workflow_workers where id = $1::uuid for update',
        [workerId],
        async (holder) => {
          // Its snapshot is taken: it waits for the row of its worker, the first row that it locks.
          const claiming = claim(workerId, definition, 10)
          await expect.poll(() => isBlocking(holder)).toBe(true)
          await engine.runs.handle(runId).pause()
          await holder.query('rollback')
          return claiming
        },
      )

      expect(claimed).toEqual([])
      const read = await store.readRun(runId)
      expect(read!.steps.map(({ status }) => status)).toEqual([round, round, 'pending'])
      await engine.runs.handle(runId).resume()
      expect(await claim(workerId, definition, 10)).toHaveLength(2)
    }
  })

  it('a signal to a step of a paused run does not block a resumption', async () => {
    const record = definitionOf('signalled', { a: [], b: ['a'] })
    const steps = record.shape.steps.map((step) => ({ ...step, kind: 'signal' as const }))
    const [definition] = await store.saveDefinitions([{ ...record, shape: { steps } }])
    const engine = createEngine({ adapter: store as Adapter })
    const workerId = await register()
    const runId = await start(definition!)
    const [waits] = await claim(workerId, definition!, 1)
    await store.settle({ workerId, outcomes: [{ ...waits!, type: 'waiting', wake: null }], handBackMax: 0 })
    await engine.runs.handle(runId).pause()

    const signal = { runId, definitionId: definition!.id, step: 0, key: 'k', actor: null, payload: '1' }
    expect(await store.deliverSignals([signal])).toEqual([{ result: 'delivered' }])
    expect(await claim(workerId, definition!, 10)).toEqual([])
    await engine.runs.handle(runId).resume()

    expect(await claim(workerId, definition!, 10)).toMatchObject([{ runId, step: 0, fence: 2 }])
  })

  it('a call for several runs gives up soon, writes nothing, and says that a row is held', async () => {
    const definition = await save('several', { a: [], b: ['a'] })
    const workerId = await register()
    const [held] = [await start(definition), await start(definition)]
    const claims = await claim(workerId, definition, 2)
    const settlement = { workerId, outcomes: claims.map(completed), handBackMax: 0 }

    const refused = await whileHolding(STEPS_OF, [[held]], () =>
      store.settle(settlement).catch((e: unknown) => e),
    )

    expect(refused).toMatchObject({
      code: 'store_contended',
      message: expect.stringMatching(/^None of 2 runs/),
    })
    expect((await store.settle(settlement)).results).toEqual(['settled', 'settled'])
  })

  it('calls for one run wait longer, and their errors name the run or the key', async () => {
    const definition = await save('single', { a: [] })
    const engine = createEngine({ adapter: store as Adapter })
    // One run for each call: a limit that ends as the lock of another call is freed makes the server speak of a cancelled statement.
    const [paused, cancelled] = [await start(definition), await start(definition)]
    const key = randomUUID()
    const take = `insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, workflow, key)
      values ($1, $2, 1, now(), 'running', 'single', $3)`
    const failure = (promise: Promise<unknown>) =>
      promise.then(
        () => expect.fail('did not wait'),
        (e: unknown) => e,
      )

    const errors = await whileHolding(take, [randomUUID(), definition.id, key], () =>
      whileHolding(STEPS_OF, [[paused, cancelled]], () =>
        Promise.all([
          failure(store.startRuns([newRun(definition, key)])),
          failure(engine.runs.handle(paused).pause()),
          failure(store.cancelRuns({ runIds: [cancelled], cause: '{}' })),
        ]),
      ),
    )

    for (const error of errors) expect(error).toMatchObject({ code: 'store_contended' })
    expect(errors[0]).toMatchObject({ message: expect.stringContaining(key) })
    for (const [at, runId] of [paused, cancelled].entries())
      expect(errors[at + 1]).toMatchObject({ runId, message: expect.stringContaining(runId) })
  })

  it('one held run does not keep the others of a list from being cancelled', async () => {
    const definition = await save('list', { a: [] })
    const engine = createEngine({ adapter: store as Adapter })
    const runIds = [await start(definition), await start(definition), await start(definition)]

    const cancelled = await whileHolding(STEPS_OF, [[runIds[1]]], () =>
      engine.runs.cancelMany(runIds.map((runId) => engine.runs.handle(runId))),
    )

    expect(cancelled).toMatchObject({
      ...{ matched: 3, runIds: [runIds[0], runIds[2]] },
      refused: [{ runId: runIds[1], why: expect.stringContaining('another transaction has held') }],
    })
    const statuses = await store.readStatuses(runIds)
    const byId = new Map(statuses.map((one) => [one.runId, one.status]))
    expect(runIds.map((id) => byId.get(id))).toEqual(['compensating', 'running', 'compensating'])
  })

  it('a caller’s own lock_timeout is restored after a start and a signal in its transaction', async () => {
    const definition = await save('own-limit', { a: [] })
    const runId = await start(definition)
    const client = await database.pool.connect()
    await client.query('begin')
    await client.query(`set local lock_timeout = '1234ms'`)
    const tx = client
    await store.startRuns([newRun(definition)], { tx })
    const signal = { runId, definitionId: definition.id, step: 0, key: 'k', actor: null, payload: null }
    await store.deliverSignals([signal], { tx })

    const { rows } = await client.query('show lock_timeout')
    await client.query('rollback')
    client.release()

    expect(rows).toEqual([{ lock_timeout: '1234ms' }])
  })

  it('the deadline of one held run does not hide others', async () => {
    const definition = await save('overdue', { a: [] })
    const runs = [0, 1, 2].map(() => ({ ...newRun(definition), deadlineMs: 0 }))
    for (const run of runs) await store.startRuns([run])
    const [held, ...free] = runs.map(({ runId }) => runId)

    const expired = await whileHolding(STEPS_OF, [[held]], async () => [
      ...(await store.expireRuns({ limit: 1 })),
      ...(await store.expireRuns({ limit: 1 })),
    ])

    expect(expired.map(({ runId }) => runId)).toEqual(free)
    expect(await store.expireRuns({ limit: 10 })).toMatchObject([{ runId: held }])
  })

  it('a locked step of a dead worker hides none of its others, nor those of other workers', async () => {
    const definition = await save('dead', { a: [] })
    const runIds: string[] = []
    for (let worker = 0; worker < 3; worker += 1) {
      const workerId = await register(0)
      for (let run = 0; run < 3; run += 1) runIds.push(await start(definition))
      await claim(workerId, definition, 3)
    }
    const [held] = runIds

    const early = await whileHolding(STEPS_OF, [[held]], () => store.sweep({ limit: 100 }))
    const late = await store.sweep({ limit: 100 })

    const idsOf = ({ recovered }: typeof early) => recovered.map(({ runId }) => runId).sort()
    expect(early.more).toBe(false)
    expect(idsOf(early)).toEqual(runIds.slice(1).sort())
    expect(idsOf(late)).toEqual([held])
  })

  it('a dead worker whose statement still waits is swept while the row that it waits for is held', async () => {
    const definition = await save('waits', { a: [], b: ['a'] })
    const workerId = await register(1_000)
    const runIds = [await start(definition), await start(definition)]
    const claims = await claim(workerId, definition, 2)

    await whileHolding(STEPS_OF, [[runIds[0]]], async (holder) => {
      // Nobody waits for its answer any more. Until it ends, it shares the lock on the worker's row.
      void store.settle({ workerId, outcomes: claims.map(completed), handBackMax: 2 }).catch(() => {})
      await expect.poll(() => isBlocking(holder)).toBe(true)
      const recovered: string[] = []
      await expect
        .poll(
          async () => {
            recovered.push(...(await store.sweep({ limit: 100 })).recovered.map(({ runId }) => runId))
            return recovered
          },
          { timeout: 15_000 },
        )
        .toEqual([runIds[1]])
    })
    expect((await store.sweep({ limit: 100 })).recovered).toMatchObject([{ runId: runIds[0] }])
  })

  /** Whether another session waits for this one. */
  async function isBlocking(holder: PoolClient): Promise<boolean> {
    const { processID } = holder as unknown as { readonly processID: number }
    const { rows } = await database.pool.query(
      'select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))',
      [processID],
    )
    return rows.length > 0
  }
})
