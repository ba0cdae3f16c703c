import { randomUUID } from 'node:crypto'
import type { Adapter, Claim, Outcome, SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed, failed } from './setup/outcomes.ts'
import { rounds } from './setup/rounds.ts'

// Races of workers and clients, on real connections. Each race runs often enough to meet both outcomes; the test checks the rows.
const ROUNDS = 150

describe.each(servers)('races on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
  })
  afterAll(() => database.drop())

  /** Two workers with a pool each, as in two processes. */
  async function twoProcesses() {
    const processes = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const adapter = postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 3 })
        const workerId = randomUUID()
        await adapter.registerWorker({ workerId, name, leaseMs: 600_000 })
        return { adapter, workerId }
      }),
    )
    return { processes, close: () => Promise.all(processes.map(({ adapter }) => adapter.close())) }
  }

  async function start(definition: SavedDefinition, key: string | null = null): Promise<string> {
    const runId = randomUUID()
    const { id: definitionId, name: workflow } = definition
    await store.startRuns([{ runId, definitionId, workflow, key, input: null }])
    return runId
  }

  async function claim(
    process: { adapter: Adapter; workerId: string },
    definition: SavedDefinition,
    limit: number,
  ) {
    const { adapter, workerId } = process
    const claimed = await adapter.claim({ workerId, definitionIds: [definition.id], limit })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }

  const save = async (name: string, edges: Record<string, string[]>) =>
    (await store.saveDefinitions([definitionOf(name, edges)]))[0]!

  const statusesOf = async (runId: string) => {
    const read = await store.readRun(runId)
    return { run: read!.run.status, steps: read!.steps.map(({ status }) => status), read: read! }
  }

  it('two parents of one step settled at once, and one of them twice, make it ready once', async () => {
    const definition = await save('join', { a: [], b: [], c: ['a', 'b'] })
    const { processes, close } = await twoProcesses()
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await start(definition)
      const [a] = await claim(one, definition, 1)
      const [b] = await claim(two, definition, 1)
      const settle = (process: typeof one, step: Claim) =>
        process.adapter.settle({ workerId: process.workerId, outcomes: [completed(step)], handBackMax: 10 })

      const settlements = await Promise.all([settle(one, a!), settle(two, b!), settle(one, a!)])

      expect(settlements.flatMap(({ results }) => results)).toEqual(['settled', 'settled', 'settled'])
      const handed = settlements.flatMap(({ claims }) => claims)
      expect(handed).toMatchObject([{ runId, step: 2, fence: 1 }])
      const { steps, read } = await statusesOf(runId)
      expect(steps).toEqual(['completed', 'completed', 'running'])
      expect(read.steps[2]!.openDependencies).toBe(0)
      const holder = processes.find(({ workerId }) => workerId === read.steps[2]!.workerId)!
      expect(await settle(holder, handed[0]!)).toMatchObject({ runs: [{ runId, status: 'completed' }] })
    }
    await close()
  })

  it('a completion against the failure of its sibling: nothing that it made ready continues', async () => {
    const definition = await save('fork', { a: [], b: [], c: ['a'], d: ['a', 'b'], e: ['c', 'd'] })
    const { processes, close } = await twoProcesses()
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    const ends = new Set<string>()
    for (const round of rounds(ROUNDS, ends)) {
      const runId = await start(definition)
      const [a] = await claim(one, definition, 1)
      const [b] = await claim(two, definition, 1)

      const [completion, failure] = await Promise.all([
        one.adapter.settle({ workerId: one.workerId, outcomes: [completed(a!)], handBackMax: round % 2 }),
        two.adapter.settle({ workerId: two.workerId, outcomes: [failed(b!)], handBackMax: 0 }),
      ])

      expect([...completion.results, ...failure.results]).toEqual(['settled', 'settled'])
      expect(failure.runs).toMatchObject([{ runId, status: 'compensating' }])
      const { run, steps } = await statusesOf(runId)
      expect(run).toBe('compensating')
      expect(steps.slice(0, 2)).toEqual(['completed', 'failed'])
      // Either c was leased before the failure committed, and is in flight, or it never starts.
      expect(steps.slice(2)).toEqual([
        completion.claims.length === 1 ? 'running' : 'cancelled',
        'cancelled',
        'cancelled',
      ])
      expect(await claim(one, definition, 10)).toEqual([])
      ends.add(steps[2]!)

      // The run drains once its steps in flight have ended, and not before.
      const drained = () => store.drain({ definitionIds: [definition.id], runIds: [runId], limit: 10 })
      for (const inFlight of completion.claims) {
        expect(await drained()).toEqual([])
        await one.adapter.settle({ workerId: one.workerId, outcomes: [completed(inFlight)], handBackMax: 10 })
      }
      expect(await drained()).toMatchObject([{ runId, stop: 'failure' }])
    }
    expect([...ends].sort()).toEqual(['cancelled', 'running'])
    await close()
  })

  it('of several callers that see a drained run, one begins its undo', async () => {
    const definition = await save('pairs', { a: [], b: [], c: ['a'] })
    const { processes, close } = await twoProcesses()
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let round = 0; round < ROUNDS / 3; round += 1) {
      const runId = await start(definition)
      const [a, b] = await claim(one, definition, 2)
      await Promise.all([
        one.adapter.settle({ workerId: one.workerId, outcomes: [completed(a!)], handBackMax: 0 }),
        one.adapter.settle({ workerId: one.workerId, outcomes: [failed(b!)], handBackMax: 0 }),
      ])

      const begun = await Promise.all(
        [one, two, one, two].map(async ({ adapter }) => {
          const [drained] = await adapter.drain({ definitionIds: [definition.id], runIds: [runId], limit: 1 })
          if (drained === undefined) return []
          return adapter.beginUndo([
            { runId, endsAs: 'compensated', undos: [{ step: 0, openDependents: 0 }] },
          ])
        }),
      )

      expect(begun.flat()).toMatchObject([{ runId, status: 'compensating' }])
      // An undo that another session has queued lies behind the mark of a claim whose look was slow, until the marks have rested.
      const undos = await vi.waitUntil(
        async () => {
          const [ofOne, ofTwo] = [await claim(one, definition, 10), await claim(two, definition, 10)]
          const claims = [...ofOne, ...ofTwo]
          return claims.length > 0 && { claims, workerId: (ofOne.length > 0 ? one : two).workerId }
        },
        { timeout: 20_000, interval: 20 },
      )
      expect(undos.claims).toMatchObject([{ runId, step: 0, direction: 'undo', undoOf: 'completed' }])
      const settled = await store.settle({
        workerId: undos.workerId,
        outcomes: [{ ...undos.claims[0]!, type: 'compensated' }],
        handBackMax: 0,
      })
      expect(settled).toMatchObject({ results: ['settled'], runs: [{ runId, status: 'compensated' }] })
    }
    await close()
  })

  it('one key in two transactions, one of which rolls back: the other starts', async () => {
    const definition = await save('keyed', { a: [] })
    const { schema } = store
    for (const end of ['rollback', 'commit'] as const) {
      const key = randomUUID()
      const other = await database.pool.connect()
      const theirs = randomUUID()
      const pid = (await other.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
      await other.query('begin')
      await other.query(
        `insert into ${schema}.workflow_runs (id, definition_id, open_steps, created_at, status, workflow, key)
         values ($1, $2, 1, now(), 'running', 'keyed', $3)`,
        [theirs, definition.id, key],
      )
      const mine = randomUUID()
      const starting = store.startRuns([
        { runId: mine, definitionId: definition.id, workflow: 'keyed', key, input: null },
      ])
      // It waits for the other transaction, as the server shows.
      await expect.poll(() => isBlocking(pid)).toBe(true)

      await other.query(end)
      other.release()

      const started = await starting
      expect(started).toMatchObject([
        end === 'rollback' ? { runId: mine, created: true } : { runId: theirs, created: false },
      ])
      expect(await store.listRuns({ key, limit: 10 })).toHaveLength(1)
    }
  })

  it('a start that waits for a key does not block its worker from being declared dead, and then leases it nothing', async () => {
    const definition = await save('waiting-for-key', { a: [] })
    const { schema } = store
    const key = randomUUID()
    const workerId = randomUUID()
    await store.registerWorker({ workerId, name: 'starter', leaseMs: 1 })
    const other = await database.pool.connect()
    const pid = (await other.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid
    await other.query('begin')
    await other.query(
      `insert into ${schema}.workflow_runs (id, definition_id, open_steps, created_at, status, workflow, key)
       values ($1, $2, 1, now(), 'running', 'waiting-for-key', $3)`,
      [randomUUID(), definition.id, key],
    )
    // The first one is stored before the second one waits.
    const runs = ['', key].map((key) => ({
      runId: randomUUID(),
      definitionId: definition.id,
      workflow: 'waiting-for-key',
      key,
      input: null,
    }))
    const starting = store.startRuns(runs, { lease: { workerId, handBackMax: 2 } })
    await expect.poll(() => isBlocking(pid)).toBe(true)

    const { lostWorkers } = await store.sweep({ limit: 100 })
    await other.query('rollback')
    other.release()

    expect(lostWorkers).toContain(workerId)
    for (const [index, started] of (await starting).entries()) {
      expect(started).toMatchObject({ runId: runs[index]!.runId, created: true, claims: [] })
      expect((await statusesOf(started.runId)).steps).toEqual(['ready'])
    }
  })

  it('a start that leases and the sweep of its worker: the step is leased and returned, or queued', async () => {
    const definition = await save('start-and-sweep', { a: [] })
    const { processes, close } = await twoProcesses()
    const [one, heir] = processes as [(typeof processes)[0], (typeof processes)[0]]
    for (let round = 0; round < ROUNDS; round += 1) {
      const workerId = randomUUID()
      await one.adapter.registerWorker({ workerId, name: 'dying', leaseMs: 0 })
      const runId = randomUUID()
      const run = { runId, definitionId: definition.id, workflow: definition.name, key: null, input: null }

      const [[started]] = await Promise.all([
        one.adapter.startRuns([run], { lease: { workerId, handBackMax: 1 } }),
        heir.adapter.sweep({ limit: 100 }),
      ])
      const leased = started!.claims!.length
      // Until nothing is left of the worker, which may have been declared dead only now.
      for (let more = true; more; ) {
        const { recovered, lostWorkers, ...swept } = await heir.adapter.sweep({ limit: 100 })
        more = swept.more || recovered.length > 0 || lostWorkers.length > 0
      }

      expect(await claim(heir, definition, 10)).toMatchObject([{ runId, losses: leased, fence: leased + 1 }])
      await store.cancelRuns({ runIds: [runId], cause: '{}' })
    }
    await close()
  })

  it('many processes start the same keys in any order: each key has one run', async () => {
    const definition = await save('crowd', { a: [] })
    const keys = Array.from({ length: 40 }, () => randomUUID())
    const batches = Array.from({ length: 8 }, (_, batch) =>
      [...keys.slice(batch * 5), ...keys.slice(0, batch * 5)].map((key) => ({
        runId: randomUUID(),
        definitionId: definition.id,
        workflow: 'crowd',
        key,
        input: null,
      })),
    )

    const started = await Promise.all(batches.map((runs) => store.startRuns(runs)))

    expect(started.flat().filter(({ created }) => created)).toHaveLength(keys.length)
    const holders = new Set(started.flat().map(({ runId }) => runId))
    expect(holders.size).toBe(keys.length)
  })

  it('a claim handed back in a lost answer is held, and drains when the run fails', async () => {
    const definition = await save('lost-answer', { a: [], b: [], c: ['a'] })
    const { processes, close } = await twoProcesses()
    const [one, two] = processes as [(typeof processes)[0], (typeof processes)[0]]
    const runId = await start(definition)
    const [a] = await claim(one, definition, 1)
    const [b] = await claim(two, definition, 1)
    const settlement = { workerId: one.workerId, outcomes: [completed(a!)], handBackMax: 10 }
    const lost = await one.adapter.settle(settlement)
    await two.adapter.settle({ workerId: two.workerId, outcomes: [failed(b!)], handBackMax: 0 })

    // The first worker only knows that it got no answer.
    expect(await one.adapter.settle(settlement)).toEqual({
      results: ['settled'],
      claims: [],
      runs: [],
      queued: false,
    })
    const held = await one.adapter.held({ workerId: one.workerId })

    expect(held).toEqual(lost.claims)
    expect(await one.adapter.stopping({ runIds: [runId] })).toEqual([runId])
    const drain = () => store.drain({ definitionIds: [definition.id], runIds: [runId], limit: 1 })
    expect(await drain()).toEqual([])
    const released: Outcome = { ...held[0]!, type: 'released' }
    await one.adapter.settle({ workerId: one.workerId, outcomes: [released], handBackMax: 0 })
    expect(await drain()).toMatchObject([{ runId, steps: [{}, {}, { status: 'cancelled', started: true }] }])
    await close()
  })

  it('settles of one wide fan-in by many workers end in one completion without a deadlock', async () => {
    const width = 120
    const roots = Array.from({ length: width }, (_, index) => `r${index}`)
    const mids = Array.from({ length: 12 }, (_, index) => `m${index}`)
    const edges = Object.fromEntries([
      ...roots.map((root) => [root, []]),
      ...mids.map((mid) => [mid, roots]),
      ['end', mids],
    ])
    const definition = await save('fan-in', edges)
    const { processes, close } = await twoProcesses()
    const runIds = await Promise.all([start(definition), start(definition), start(definition)])

    let ended = 0
    const work = async (process: (typeof processes)[0]) => {
      for (let idle = 0; ended < runIds.length && idle < 2_000; idle += 1) {
        const claims = await claim(process, definition, 7)
        // Backwards, so that only the store's own order keeps two batches from deadlocking.
        for (let open: readonly Claim[] = [...claims].reverse(); open.length > 0; ) {
          const { workerId, adapter } = process
          const settlement = await adapter.settle({ workerId, outcomes: open.map(completed), handBackMax: 5 })
          expect(settlement.results.every((result) => result === 'settled')).toBe(true)
          ended += settlement.runs.length
          open = settlement.claims
        }
      }
    }
    await Promise.all(processes.flatMap((process) => [work(process), work(process), work(process)]))

    for (const runId of runIds) {
      const { run, steps, read } = await statusesOf(runId)
      expect(run).toBe('completed')
      expect(new Set(steps)).toEqual(new Set(['completed']))
      expect(read.steps.every(({ fence }) => fence === 1)).toBe(true)
    }
    await close()
  })

  it('no race met a deadlock that its lock order should have prevented', async () => {
    const { rows } = await database.pool.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    expect(Number(rows[0]!.deadlocks)).toBe(0)
  })

  /** Whether any session waits for the server process with this id. Asked outside its transaction, which sees only one snapshot. */
  async function isBlocking(pid: number): Promise<boolean> {
    const { rows } = await database.pool.query(
      'select 1 from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))',
      [pid],
    )
    return rows.length === 1
  }
})
