import { randomUUID } from 'node:crypto'
import type { Adapter, Claim, NewSignal, Outcome, SavedDefinition } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresAdapter, postgres } from '../src/index.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { definitionOf } from './setup/graphs.ts'
import { completed } from './setup/outcomes.ts'
import { rounds } from './setup/rounds.ts'

// Waits against what ends them, on real connections. Each race runs often enough to meet both outcomes; the test checks the rows.
const ROUNDS = 120

describe.each(servers)('races of waits on $name', ({ url }) => {
  let database: TestDatabase
  let store: PostgresAdapter
  let definition: SavedDefinition
  const processes: { readonly adapter: Adapter; readonly workerId: string }[] = []

  beforeAll(async () => {
    database = await createDatabase(url)
    store = await createStore(database)
    definition = (await store.saveDefinitions([definitionOf('wait', { a: [], b: ['a'] })]))[0]!
    for (const name of ['one', 'two']) {
      const adapter = postgres(database.url, { schema: store.schema, listen: false, connectionsMax: 3 })
      const workerId = randomUUID()
      await adapter.registerWorker({ workerId, name, leaseMs: 600_000 })
      processes.push({ adapter, workerId })
    }
  })
  afterAll(async () => {
    await Promise.all(processes.map(({ adapter }) => adapter.close()))
    await database.drop()
  })

  async function start(deadlineMs?: number): Promise<string> {
    const runId = randomUUID()
    const { id: definitionId, name: workflow } = definition
    await store.startRuns([{ runId, definitionId, workflow, key: null, input: null, deadlineMs }])
    return runId
  }

  async function claim(process = processes[0]!): Promise<readonly Claim[]> {
    const { adapter, workerId } = process
    const claimed = await adapter.claim({ workerId, definitionIds: [definition.id], limit: 10 })
    return claimed === 'lost' ? expect.fail('The worker was lost.') : claimed.claims
  }

  const settle = (outcome: Outcome, { adapter, workerId } = processes[0]!) =>
    adapter.settle({ workerId, outcomes: [outcome], handBackMax: 0 })

  const waiting = (claimed: Claim, afterMs: number | null): Outcome => ({
    ...claimed,
    type: 'waiting',
    wake: afterMs === null ? null : { afterMs },
  })

  const signalOf = (runId: string, key: string = randomUUID()): NewSignal => ({
    runId,
    definitionId: definition.id,
    step: 0,
    key,
    actor: null,
    payload: JSON.stringify(key),
  })

  const send = async (signal: NewSignal, { adapter } = processes[1]!) =>
    (await adapter.deliverSignals([signal]))[0]!

  const read = async (runId: string) => (await store.readRun(runId))!

  /** A run whose first step waits. */
  async function givenWaiting(afterMs: number | null): Promise<string> {
    const runId = await start()
    const [claimed] = await claim()
    await settle(waiting(claimed!, afterMs))
    return runId
  }

  /** Ends a run, so that its next steps disturb no other test. */
  const cancel = (runId: string) => store.cancelRuns({ runIds: [runId], cause: '{"type":"cancelled"}' })

  it('a signal against the settlement of the wait: the step is ready with it, once', async () => {
    const ends = new Set<string>()
    for (const _ of rounds(ROUNDS, ends)) {
      const runId = await start()
      const [claimed] = await claim()
      const signal = signalOf(runId)

      const [settlement, delivery] = await Promise.all([settle(waiting(claimed!, null)), send(signal)])

      expect(settlement.results).toEqual(['settled'])
      ends.add(delivery.result)
      // Kept: the settlement found the signal and says so. Delivered: the signal found the wait.
      expect(settlement.queued).toBe(delivery.result === 'kept')
      const { steps } = await read(runId)
      expect(steps[0]).toMatchObject({ status: 'ready', output: signal.payload, workerId: null })
      const taken = [...(await claim()), ...(await claim(processes[1]))]
      expect(taken).toMatchObject([{ runId, step: 0, fence: 2 }])
      await cancel(runId)
    }
    expect([...ends].sort()).toEqual(['delivered', 'kept'])
  })

  it('two signals at once: the step takes one, and the other sender is told so', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await givenWaiting(null)
      const [first, second] = [signalOf(runId), signalOf(runId)]

      const deliveries = await Promise.all([send(first, processes[0]), send(second, processes[1])])

      const taken = deliveries.findIndex(({ result }) => result === 'delivered')
      const recorded = [first, second][taken]!.payload
      expect(deliveries[1 - taken]).toEqual({ result: 'ignored', reason: 'signalled', recorded })
      expect((await read(runId)).steps[0]).toMatchObject({ status: 'ready', output: recorded })
      expect(await claim()).toHaveLength(1)
      await cancel(runId)
    }
  })

  it('one signal sent twice at once is recorded once, and the other sender is told that it was', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await givenWaiting(null)
      const signal = signalOf(runId)

      const deliveries = await Promise.all([send(signal, processes[0]), send(signal, processes[1])])

      expect(deliveries.map(({ result }) => result).sort()).toEqual(['delivered', 'duplicate'])
      expect(await claim()).toHaveLength(1)
      await cancel(runId)
    }
  })

  it('a signal against the claim of its timeout: the worker that holds the step knows whether it came', async () => {
    const ends = new Set<string>()
    for (const round of rounds(ROUNDS, ends)) {
      const runId = await givenWaiting(0)
      const signal = signalOf(runId)

      // Whoever is called first mostly wins: they take turns.
      const isSentFirst = round % 2 === 1
      const sent = isSentFirst ? send(signal) : undefined
      const [first, delivery] = await Promise.all([claim(), sent ?? send(signal)])

      // If the delivery came first, it left its own hint.
      const claims = first.length > 0 ? first : await claim()
      expect(claims).toMatchObject([{ runId, step: 0, fence: 2 }])
      const [loaded] = await store.load([{ runId, steps: [0] }])
      const { signalledAt, output } = loaded!.steps[0]!
      ends.add(delivery.result)
      if (delivery.result === 'delivered') expect(output).toBe(signal.payload)
      else expect(delivery).toEqual({ result: 'ignored', reason: 'timed_out', recorded: null })
      expect(signalledAt === null).toBe(delivery.result === 'ignored')
      await cancel(runId)
      await settle({ ...claims[0]!, type: 'released' })
    }
    expect([...ends].sort()).toEqual(['delivered', 'ignored'])
  })

  it('a signal against the settlement of its timeout: the stand-in stays, and the signal is refused', async () => {
    const reasons = new Set<string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = await givenWaiting(0)
      const [claimed] = await claim()

      const [settlement, delivery] = await Promise.all([
        settle({ ...claimed!, type: 'completed', output: '"stand-in"' }),
        send(signalOf(runId)),
      ])

      expect(settlement.results).toEqual(['settled'])
      expect(delivery).toMatchObject({ result: 'ignored', recorded: null })
      if (delivery.result === 'ignored') reasons.add(delivery.reason)
      expect((await read(runId)).steps[0]).toMatchObject({
        status: 'completed',
        output: '"stand-in"',
        signalledAt: null,
      })
      await cancel(runId)
    }
    for (const reason of reasons) expect(['timed_out', 'step_over']).toContain(reason)
  })

  it('a signal against a cancellation: the run is stopped either way, and none of its steps starts', async () => {
    const ends = new Set<string>()
    for (const _ of rounds(ROUNDS, ends)) {
      const runId = await givenWaiting(null)

      const [delivery, stopped] = await Promise.all([send(signalOf(runId)), cancel(runId)])

      expect(stopped).toMatchObject([{ runId }])
      ends.add(delivery.result)
      if (delivery.result !== 'delivered') expect(delivery).toMatchObject({ reason: 'run_over' })
      expect(await claim()).toEqual([])
      const drained = await store.drain({ definitionIds: [definition.id], runIds: [runId], limit: 1 })
      expect(drained).toMatchObject([{ runId, steps: [{ status: 'cancelled' }, { status: 'cancelled' }] }])
    }
    expect([...ends].sort()).toEqual(['delivered', 'ignored'])
  })

  it('a deadline against the last completion: the run has one end', async () => {
    const ends = new Set<string>()
    for (const _ of rounds(ROUNDS, ends)) {
      const runId = await start(0)
      const [a] = await claim()
      await settle(completed(a!))
      const [b] = await claim()

      const [settlement, expired] = await Promise.all([
        settle(completed(b!)),
        processes[1]!.adapter.expireRuns({ limit: 10 }),
      ])

      expect(settlement.results).toEqual(['settled'])
      const { run, steps } = await read(runId)
      ends.add(run.status)
      expect(steps.map(({ status }) => status)).toEqual(['completed', 'completed'])
      if (expired.length === 0) {
        expect(settlement.runs).toMatchObject([{ runId, status: 'completed' }])
        expect(run).toMatchObject({ status: 'completed', cause: null })
      } else {
        expect(settlement.runs).toEqual([])
        expect(run.status).toBe('compensating')
        const drained = await store.drain({ definitionIds: [definition.id], runIds: [runId], limit: 1 })
        expect(drained).toMatchObject([{ runId, stop: 'failure' }])
      }
    }
    expect([...ends].sort()).toEqual(['compensating', 'completed'])
  })

  it('several look for deadlines at once: each run is stopped once, and none is forgotten', async () => {
    const runIds = await Promise.all(Array.from({ length: 60 }, () => start(0)))
    const expired = await Promise.all(
      Array.from({ length: 8 }, (_, n) => processes[n % 2]!.adapter.expireRuns({ limit: 100 })),
    )
    const expiredIds = expired.flat().map(({ runId }) => runId)
    expect(expiredIds.sort()).toEqual([...runIds].sort())
    expect((await store.upcoming({ definitionIds: [] })).deadlineInMs).toBeNull()
  })
})
