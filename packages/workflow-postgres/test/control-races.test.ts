import { randomUUID } from 'node:crypto'
import { createEngine, type RunHandle } from '@belay/workflow'
import type { Adapter, Claim, SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed, failed } from './setup/outcomes.ts'
import { rounds } from './setup/rounds.ts'

// Operators against workers, on real connections. Each race runs often enough to meet both outcomes; the test checks the rows.
const ROUNDS = 60

interface Process {
  readonly adapter: Adapter
  readonly workerId: string
}

describe.each(servers)('races of operators on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let one: Process
  let two: Process

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
    ;[one, two] = await Promise.all([open(), open()])
  })
  afterAll(async () => {
    await Promise.all([one.adapter.close(), two.adapter.close()])
    await database.drop()
  })

  /** A worker with its own pool, as in another process. */
  async function open(): Promise<Process> {
    const adapter = postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 3 })
    const workerId = randomUUID()
    await adapter.registerWorker({ workerId, name: 'w', leaseMs: 600_000 })
    return { adapter, workerId }
  }

  const save = async (name: string, edges: Record<string, string[]>) =>
    (await store.saveDefinitions([definitionOf(name, edges)]))[0]!

  async function start({ id: definitionId, name: workflow }: SavedDefinition): Promise<string> {
    const runId = randomUUID()
    await store.startRuns([{ runId, definitionId, workflow, key: null, input: null }])
    return runId
  }

  async function claim({ adapter, workerId }: Process, definition: SavedDefinition, limit = 100) {
    const claimed = await adapter.claim({ workerId, definitionIds: [definition.id], limit })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }

  /** An undo that another process has queued lies behind the mark of a claim whose look was slow: it is found once the marks have rested. */
  async function claimUndos(process: Process, definition: SavedDefinition, count: number) {
    const claims = await vi.waitUntil(
      async () => {
        const found = await claim(process, definition)
        return found.length > 0 && found
      },
      { timeout: 20_000, interval: 20 },
    )
    expect(claims).toHaveLength(count)
    return claims
  }

  /** Now, or a moment later: the round decides who comes first, and often nobody knows. */
  async function about(round: number, pauses = 4): Promise<void> {
    for (let pause = round % pauses; pause > 0; pause -= 1) await one.adapter.now()
  }

  const complete = ({ adapter, workerId }: Process, claims: readonly Claim[], handBackMax = 0) =>
    adapter.settle({ workerId, outcomes: claims.map(completed), handBackMax })

  const operate = (runId: string, { adapter }: Process = two): RunHandle =>
    createEngine({ adapter }).runs.handle(runId)

  const statusesOf = async (runId: string) => {
    const read = await store.readRun(runId)
    return { run: read!.run.status, steps: read!.steps.map(({ status }) => status) }
  }

  /** Claims and completes until nothing is left. */
  async function finish(process: Process, definition: SavedDefinition): Promise<void> {
    for (
      let claims = await claim(process, definition);
      claims.length > 0;
      claims = await claim(process, definition)
    ) {
      await complete(process, claims)
    }
  }

  it('a pause against the settlement of a parent: the dependents are handed out before the pause, or not at all', async () => {
    const definition = await save('fork', { a: [], b: ['a'], c: ['a'] })
    const ends = new Set<string>()
    for (const round of rounds(ROUNDS, ends)) {
      const runId = await start(definition)
      const claims = await claim(one, definition)

      const [settlement] = await Promise.all([
        about(round).then(() => complete(one, claims, (round % 2) * 10)),
        operate(runId).pause(),
      ])

      expect(settlement.results).toEqual(['settled'])
      const { run, steps } = await statusesOf(runId)
      expect(run).toBe('paused')
      ends.add(steps[1]!)
      expect(await claim(two, definition)).toEqual([])
      await complete(one, settlement.claims)
      if ((await statusesOf(runId)).run === 'paused') await operate(runId).resume()
      await finish(two, definition)
      expect(await statusesOf(runId)).toEqual({ run: 'completed', steps: Array(3).fill('completed') })
    }
    expect(ends.size).toBeGreaterThan(1)
  })

  it('a resumption against a claim, and against the settlement of a parent, loses no step', async () => {
    const definition = await save('resumed', { a: [], b: ['a'], c: [] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await start(definition)
      const [a] = await claim(one, definition, 1)
      await operate(runId).pause()

      const [, , claims] = await Promise.all([
        operate(runId).resume(),
        complete(one, [a!]),
        claim(two, definition),
      ])

      await complete(two, claims)
      await finish(two, definition)
      expect((await statusesOf(runId)).run).toBe('completed')
    }
  })

  it('of many retries of a run at once one succeeds, and the others are refused', async () => {
    const definition = await save('retried', { a: [], b: ['a'] })
    for (let round = 0; round < ROUNDS / 3; round += 1) {
      const runId = await start(definition)
      const [a] = await claim(one, definition)
      await one.adapter.settle({ workerId: one.workerId, outcomes: [failed(a!)], handBackMax: 0 })
      await store.beginUndo([{ runId, endsAs: 'failed', undos: [] }])

      const retried = await Promise.allSettled([one, two, one, two].map((by) => operate(runId, by).retry()))

      expect(retried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await operate(runId).history()).toHaveLength(1)
      const claims = [...(await claim(one, definition)), ...(await claim(two, definition))]
      expect(claims).toMatchObject([{ runId, step: 0, failures: 0 }])
      await complete(one, claims)
      await complete(two, claims)
      await finish(one, definition)
      expect((await statusesOf(runId)).run).toBe('completed')
    }
  })

  it('a skip against a claim: one of them gets the step, and the run goes on', async () => {
    const definition = await save('skipped', { a: [], b: ['a'] })
    const ends = new Set<string>()
    for (const round of rounds(ROUNDS, ends)) {
      const runId = await start(definition)

      const [claims, skipped] = await Promise.all([
        about(round).then(() => claim(one, definition)),
        operate(runId)
          .skipStep('a')
          .then(
            () => true,
            () => false,
          ),
      ])

      const { steps } = await statusesOf(runId)
      ends.add(steps[0]!)
      // If the step was skipped first, the claim gets the next step.
      expect(claims).toMatchObject(skipped && claims.length === 0 ? [] : [{ step: skipped ? 1 : 0 }])
      expect(steps[0]).toBe(skipped ? 'skipped' : 'running')
      await complete(one, claims)
      await finish(one, definition)
      expect((await statusesOf(runId)).run).toBe('completed')
    }
    expect(ends.size).toBe(2)
  })

  it('a cancellation against the last completion: the run is cancelled or completed, and its history says which', async () => {
    const definition = await save('ended', { a: [] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await start(definition)
      const claims = await claim(one, definition)

      const [settlement, cancelled] = await Promise.all([
        complete(one, claims),
        operate(runId).cancel({ compensate: round % 2 === 0 }),
      ])

      expect(settlement.results).toEqual(['settled'])
      const { run, steps } = await statusesOf(runId)
      expect([run, settlement.runs.length]).toEqual(cancelled ? ['compensating', 0] : ['completed', 1])
      expect(steps).toEqual(['completed'])
      expect(await operate(runId).history()).toHaveLength(cancelled ? 1 : 0)
    }
  })

  it('retrying or skipping a parked compensation against the last other undo: the run ends once all are undone', async () => {
    const definition = await save('undone', { a: [], b: [], c: ['a', 'b'] })
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await start(definition)
      await complete(one, await claim(one, definition))
      await operate(runId).cancel()
      await store.drain({ definitionIds: [definition.id], runIds: [runId], limit: 1 })
      const undos = [0, 1].map((step) => ({ step, openDependents: 0 }))
      await store.beginUndo([{ runId, endsAs: 'cancelled', undos }])
      const [a, b] = await claimUndos(one, definition, 2)
      const park = { ...a!, type: 'compensation_failed' as const, error: '{"name":"Error","message":"no"}' }
      await one.adapter.settle({ workerId: one.workerId, outcomes: [park], handBackMax: 0 })
      const name = ['a', 'b', 'c'][a!.step]!
      const undone = (of: Claim) => ({ ...of, type: 'compensated' as const })

      const retries = round % 2 === 0
      const [settlement] = await Promise.all([
        one.adapter.settle({ workerId: one.workerId, outcomes: [undone(b!)], handBackMax: 0 }),
        retries ? operate(runId).retryCompensation(name) : operate(runId).skipCompensation(name),
      ])

      expect(settlement.results).toEqual(['settled'])
      if (retries) {
        expect((await statusesOf(runId)).run).toBe('compensating')
        const claims = await claimUndos(two, definition, 1)
        expect(claims).toMatchObject([{ step: a!.step, direction: 'undo', failures: 0 }])
        await two.adapter.settle({ workerId: two.workerId, outcomes: claims.map(undone), handBackMax: 0 })
      }
      expect((await statusesOf(runId)).run).toBe('cancelled')
    }
  })

  it('a move to another version against a claim: the version that holds the step runs it', async () => {
    const before = await save('moved', { a: [], b: ['a'] })
    const [after] = await store.saveDefinitions([
      { ...definitionOf('moved', { x: [], a: [], b: ['a', 'x'] }), version: 2 },
    ])
    const { id: _, ...record } = after!
    const workflow = { name: 'moved', version: 2, record } as never
    const ends = new Set<boolean>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await start(before)

      const [claims, moved] = await Promise.all([
        // A move first finds the run and saves the version.
        about(round, 15).then(() => claim(one, before)),
        createEngine({ adapter: two.adapter })
          .migrateRun(runId, workflow)
          .catch(() => false),
      ])

      ends.add(moved)
      expect(claims).toHaveLength(moved ? 0 : 1)
      await complete(one, claims)
      await finish(two, moved ? after! : before)
      const { run, steps } = await statusesOf(runId)
      expect([run, steps.length]).toEqual(['completed', moved ? 3 : 2])
    }
    expect(ends.size).toBe(2)
  })

  it('pauses and resumptions in the middle of a wide fan strand no step and raise no error', async () => {
    const width = 80
    const roots = Array.from({ length: width }, (_, n) => `r${n}`)
    const mids = Array.from({ length: 8 }, (_, n) => `m${n}`)
    const definition = await save(
      'wide',
      Object.fromEntries([
        ...roots.map((root) => [root, []]),
        ...mids.map((mid) => [mid, roots]),
        ['end', mids],
      ]),
    )
    const runId = await start(definition)
    let over = false
    const work = async (process: Process) => {
      while (!over) {
        const claims = await claim(process, definition, 5)
        for (let open: readonly Claim[] = [...claims].reverse(); open.length > 0; ) {
          const settlement = await complete(process, open, 3)
          expect(settlement.results.every((result) => result === 'settled')).toBe(true)
          if (settlement.runs.length > 0) over = true
          open = settlement.claims
        }
      }
    }
    const meddle = async () => {
      const handle = operate(runId)
      while (!over) {
        const refused = await handle.pause().catch((error: unknown) => error)
        if (refused === true) await handle.resume().catch(() => {})
      }
    }

    await Promise.all([work(one), work(two), work(one), meddle()])

    const { run, steps } = await statusesOf(runId)
    expect([run, new Set(steps)]).toEqual(['completed', new Set(['completed'])])
  })
})
