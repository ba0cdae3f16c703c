import { randomUUID } from 'node:crypto'
import { define, type WorkflowDefinition } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { Context } from '../../../workflow/src/engine/base/context.ts'
import { EventHub } from '../../../workflow/src/engine/base/events.ts'
import { Meter } from '../../../workflow/src/engine/base/meter.ts'
import { OutageWatch } from '../../../workflow/src/engine/base/outage.ts'
import { PayloadCache } from '../../../workflow/src/engine/base/payload-cache.ts'
import { SetAside } from '../../../workflow/src/engine/base/set-aside.ts'
import { Session } from '../../../workflow/src/engine/worker/session.ts'
import { memory, VirtualClock } from '../../src/index.ts'

const LEASE_MS = 30_000

/** A handler that ends when it is told to, or when its signal fires. */
function held() {
  const ends: (() => void)[] = []
  const workflow = define('held', { version: 1 }).step('step', {
    retry: { attempts: 1 },
    run: ({ signal }) =>
      new Promise<string>((resolve, reject) => {
        ends.push(() => resolve('done'))
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  })
  return { workflow, ends }
}

/** One session of two slots on a store that holds `runs` runs of one workflow; no worker around it. */
async function opened(workflow: WorkflowDefinition, runs: number) {
  const clock = new VirtualClock()
  const store = memory({ clock })
  const network = { losesAnswers: false }
  const adapter: Adapter = Object.assign(Object.create(null), store, {
    async claim(request: Parameters<Adapter['claim']>[0]) {
      const answer = await store.claim(request)
      if (network.losesAnswers) throw new StoreUnavailableError('the answer was lost')
      return answer
    },
  })
  await store.open()
  const [saved] = await store.saveDefinitions([workflow.record])
  const definitionId = saved!.id
  const runIds: string[] = Array.from({ length: runs }, () => randomUUID())
  await store.startRuns(
    runIds.map((runId) => ({ runId, definitionId, workflow: workflow.name, key: null, input: 'null' })),
  )
  const heard: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const context = new Context()
  const events = new EventHub(log, context)
  for (const name of ['step.started', 'step.completed', 'step.discarded', 'lease.adopted'] as const)
    events.on(name, () => void heard.push(name))
  const runtime = { clock, random: () => 0.5, newId: (): string => randomUUID(), context }
  const meter = new Meter(clock)
  const session = new Session({
    ...{
      adapter,
      events,
      log,
      handlerLog: log,
      runtime,
      workerId: randomUUID(),
      concurrency: 2,
      undoSlots: 1,
      leaseMs: LEASE_MS,
    },
    definitions: new Map([[definitionId, workflow]]),
    meter,
    outage: new OutageWatch({ during: 'settling', log, events, random: runtime.random, meter }),
    payloads: new PayloadCache(store),
    aside: new SetAside({ clock: runtime.clock, log, events }),
    children: { follow: () => Promise.reject(), undo: () => Promise.reject() },
    payloadMaxBytes: 1_000,
    keepAttempts: false,
    storeStacks: true,
    valueLimits: { valuesMax: 100, valueMaxBytes: 1_000 },
    tellingOutage: new OutageWatch({ during: 'publishing', log, events, random: runtime.random, meter }),
    onPublished: () => {},
    onSettled: () => {},
    onStoppingRunMoved: (runId) => heard.push(`undo of ${runIds.indexOf(runId)} may be due`),
    onRoom: () => heard.push(`room ${session.capacity.room}`),
    onDoubt: () => heard.push('doubt'),
    onLeaseDoubted: () => heard.push('lease doubted'),
  })
  await store.registerWorker({
    ...{ workerId: session.workerId, name: 'worker', host: undefined, leaseMs: LEASE_MS, slots: 2 },
    definitionIds: [definitionId],
  })
  const claim = () => session.intake.claim([definitionId], 500)
  return { session, store, network, clock, runIds, heard, claim, turn: () => clock.advance(0) }
}

describe('a session', () => {
  it('claims what it has slots for, and records what its handlers return', async () => {
    const { workflow, ends } = held()
    const { session, store, runIds, heard, claim, turn } = await opened(workflow, 3)

    expect([await claim(), await claim()]).toEqual(['more', 'full'])
    await turn()
    expect([session.attempts.size, session.capacity.room, session.capacity.busy]).toEqual([2, 0, 2])
    for (const end of ends) end()
    await turn()

    // Two slots, and two steps ahead, as many as have just ended.
    expect([session.attempts.size, session.capacity.room]).toEqual([0, 4])
    expect(heard.slice(-3)).toEqual(['step.completed', 'step.completed', 'room 4'])
    const found = await Promise.all(runIds.map((runId) => store.readRun(runId)))
    expect(found.map((found) => found?.run.status).sort()).toEqual(['completed', 'completed', 'running'])
  })

  it('that leaves lets handlers end, gives up what it is handed, and holds nothing then', async () => {
    const { workflow, ends } = held()
    const { session, claim, turn } = await opened(workflow, 1)
    await claim()
    await turn()

    session.leave()
    await turn()
    const running = [session.attempts.size, session.capacity.room]
    ends[0]!()
    await turn()

    expect(running).toEqual([1, 0])
    expect(session.isEmpty).toBe(true)
    expect(await claim()).toBe('full')
  })

  it('that loses its identity signals its handlers, and the store discards their results', async () => {
    const { workflow } = held()
    const { session, store, clock, heard, claim, turn } = await opened(workflow, 1)
    await claim()
    await turn()
    await clock.advance(LEASE_MS + 1)
    await store.sweep({ limit: 10, keepAttempts: false })

    const lost = session.lose()
    await turn()

    expect(lost).toBe(1)
    expect(session.isEmpty).toBe(true)
    expect(heard).toContain('step.discarded')
    expect(heard).not.toContain('step.completed')
  })

  it('calls no handler while the lease may have ended, and calls it once the store has confirmed the lease', async () => {
    const { workflow } = held()
    const { session, clock, heard, claim, turn } = await opened(workflow, 1)
    await clock.advance(LEASE_MS)

    const claims = claim()
    await turn()
    await claims
    const before = [...heard]
    session.lease.extended(clock.now())
    await turn()

    expect(before).toEqual(['lease doubted'])
    expect(heard).toContain('step.started')
  })

  it('adopts the steps of a claim whose answer was lost, after two looks', async () => {
    const { workflow } = held()
    const { session, network, heard, claim, turn } = await opened(workflow, 1)

    network.losesAnswers = true
    await expect(claim()).rejects.toThrow('the answer was lost')
    network.losesAnswers = false
    const doubted = session.capacity.isDoubted
    const differences = [await session.reconciler.compare(), await session.reconciler.compare()]
    await turn()

    expect(doubted).toBe(true)
    expect(differences).toEqual([1, 0])
    expect(session.attempts.size).toBe(1)
    expect(heard).toEqual(['doubt', 'lease.adopted', 'step.started'])
  })

  it('asks the store before it gives up a claim of a run that it was told is stopping', async () => {
    const { workflow } = held()
    const { session, runIds, heard, claim, turn } = await opened(workflow, 1)

    session.attempts.stopRun(runIds[0]!)
    await claim()
    await turn()

    // The store says that the run goes forward: what the session was told is out of date.
    expect(heard).toContain('step.started')
    expect(session.attempts.size).toBe(1)
    session.attempts.stopRun(runIds[0]!)
    await turn()
    expect(heard).toContain('undo of 0 may be due')
  })
})
