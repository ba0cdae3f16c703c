import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { completed, failed, received, released, retry, type Scenario, waiting } from '../scenario/index.ts'

export const waitCases: Cases = {
  'a waiting step holds no worker, and its run is shown as waiting': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 5_000 })

    expect(await run.step('a')).toMatchObject({
      status: 'waiting',
      workerId: null,
      failures: 0,
      losses: 0,
      output: null,
    })
    expect(await worker.held()).toEqual([])
    expect(await run.status()).toBe('waiting')
    expect(await given.adapter.readStatuses([run.id])).toEqual([{ runId: run.id, status: 'waiting' }])
    const stored = await given.adapter.readStatuses([run.id], { stored: true })
    expect(stored).toMatchObject([{ runId: run.id, status: 'running' }])
  },

  'a run is shown as running while any of its steps is running or claimable': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [s0] = await worker.claimsOf(run, 's0', 's1')
    await worker.settle([waiting(s0!, { afterMs: 5_000 })])
    expect(await run.status()).toBe('running')
    await worker.settle([retry(await worker.claimOf(run, 's1'), 400)])
    expect(await run.status()).toBe('running')
  },

  'a wait records when it began and when it is due': async (given) => {
    const startedAt = await given.adapter.now()
    const { run } = await pairWaitingFor(given, { afterMs: 5_000 })
    const step = await run.step('a')
    expect(step.waitingSince).toBeCloseTo(startedAt, 0)
    expect(step.availableAt).toBeCloseTo(startedAt + 5_000, 0)
    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [0] }])
    const { waitingSince, availableAt, signalledAt, failingSince } = step
    expect(loaded!.steps[0]).toMatchObject({ waitingSince, availableAt, signalledAt, failingSince })
    expect(loaded!.now).toBeCloseTo(startedAt, 0)
  },

  'a step that waits for a duration is claimable when that has passed, not before': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 5_000 })
    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2, failures: 0, losses: 0 }])
    expect(await run.status()).toBe('running')
  },

  'a step that waits until an instant is claimable from then on, not before': async (given) => {
    const at = (await given.adapter.now()) + 5_000
    const { worker } = await pairWaitingFor(given, { at })
    await given.advance(4_999)
    expect(await worker.take()).toEqual([])
    await given.advance(1)
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2 }])
  },

  'a step that waits until an instant that has passed is claimable at once': async (given) => {
    const at = (await given.adapter.now()) - 5_000
    const { worker } = await pairWaitingFor(given, { at })
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 2 }])
  },

  'a step that waits without a timeout is never claimable by time': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)
    await given.advance(365 * 86_400_000)
    expect(await worker.claim()).toEqual([])
    expect(await run.step('a')).toMatchObject({ status: 'waiting', availableAt: null })
  },

  'a wait that is over completes its step, and its dependents continue': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 5_000 })
    await given.advance(5_000)
    const settled = await worker.settle([completed(await worker.claimOf(run, 'a'), null)], 10)
    expect(settled.claims).toMatchObject([{ step: 1 }])
    expect(await run.statuses()).toEqual({ a: 'completed', b: 'running' })
  },

  'a step may wait again and again, and keeps the time when it first began to wait': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 1_000 })
    const { waitingSince } = await run.step('a')
    await given.advance(1_000)
    await worker.settle([waiting(await worker.claimOf(run, 'a'), { afterMs: 1_000 })])
    expect(await run.step('a')).toMatchObject({ status: 'waiting', waitingSince })
    await given.advance(1_000)
    expect(await worker.take()).toMatchObject([{ step: 0, fence: 3 }])
  },

  'waiting resets the counts of failures and losses': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    await given.expireLeases()
    await given.sweep()
    const next = await given.worker()
    const [claim] = await next.take()
    await next.settle([waiting(claim!, { afterMs: 0 })])
    expect(await next.take()).toMatchObject([{ step: 0, failures: 0, losses: 0 }])
  },

  'a wait that is repeated answers settled, and changes nothing': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const outcome = waiting(await worker.claimOf(run, 'a'), { afterMs: 1_000 })
    await worker.settle([outcome])
    const before = await given.snapshot()
    await given.advance(400)

    const again = await worker.settle([outcome])

    expect(again.results).toEqual(['settled'])
    expect(await given.snapshot()).toEqual(before)
  },

  'a wait that comes after the lease was lost changes nothing': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const outcome = waiting(await worker.claimOf(run, 'a'), null)
    await given.expireLeases()
    await given.sweep()
    await (await given.worker()).take()
    const before = await given.snapshot()

    expect((await worker.settle([outcome])).results).toEqual(['lost'])
    expect(await given.snapshot()).toEqual(before)
  },

  'waits settle in one batch with other outcomes': async (given) => {
    const run = await given.loose(4)
    const worker = await given.worker()
    const [s0, s1, s2, s3] = await worker.claimsOf(run, 's0', 's1', 's2', 's3')
    const settled = await worker.settle([
      completed(s0!),
      waiting(s1!, null),
      waiting(s2!, { afterMs: 0 }),
      released(s3!),
    ])
    expect(settled.results).toEqual(['settled', 'settled', 'settled', 'settled'])
    expect(await run.statuses()).toEqual({ s0: 'completed', s1: 'waiting', s2: 'waiting', s3: 'ready' })
  },

  'a waiting step of a run that fails elsewhere is cancelled, and the run drains': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [s0, s1] = await worker.claimsOf(run, 's0', 's1')
    await worker.settle([waiting(s0!, { afterMs: 1_000 })])
    await worker.settle([failed(s1!)])
    expect(await run.statuses()).toEqual({ s0: 'cancelled', s1: 'failed' })
    await given.advance(1_000)
    expect(await worker.take()).toEqual([])
    expect(await given.drain()).toMatchObject([{ runId: run.id }])
  },

  'a step that begins to wait in a run that has stopped is cancelled by its drain': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 'a')
    await given.cancel(run)

    await worker.settle([waiting(claim, { afterMs: 1_000 })])

    expect(await given.drain()).toMatchObject([{ runId: run.id }])
    expect(await run.statuses()).toEqual({ a: 'cancelled', b: 'cancelled' })
  },

  'a worker that dies leaves its waiting step waiting, without a loss': async (given) => {
    const { run } = await pairWaitingFor(given, { afterMs: 60_000 })
    await given.expireLeases()
    const swept = await given.sweep()
    expect(swept.recovered).toEqual([])
    expect(await run.step('a')).toMatchObject({ status: 'waiting', losses: 0 })
  },

  'a failure keeps when its series began, and a later series begins anew': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 0 })
    const startedAt = await given.adapter.now()
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    await given.advance(700)
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    expect((await run.step('a')).failingSince).toBeCloseTo(startedAt, 0)
    await worker.settle([waiting(await worker.claimOf(run, 'a'), { afterMs: 0 })])
    await worker.settle([retry(await worker.claimOf(run, 'a'), 0)])
    expect((await run.step('a')).failingSince).toBeCloseTo(startedAt + 700, 0)
  },

  'upcoming returns when the next step of these definitions is due, and null if none is': async (given) => {
    const { run, worker } = await pairWaitingFor(given, { afterMs: 5_000 })
    const other = await given.start(await given.graph('other', { a: [] }))
    await worker.settle([waiting(await worker.claimOf(other, 'a'), { afterMs: 3_000 })])
    const upcoming = (...definitionIds: readonly number[]) => given.adapter.upcoming({ definitionIds })

    expect((await upcoming(run.graph.id)).claimInMs).toBeCloseTo(5_000, 0)
    expect((await upcoming(run.graph.id, other.graph.id)).claimInMs).toBeCloseTo(3_000, 0)
    await given.advance(4_000)
    expect((await upcoming(run.graph.id, other.graph.id)).claimInMs).toBeCloseTo(1_000, 0)
    await given.advance(2_000)
    expect(await upcoming(run.graph.id, other.graph.id)).toMatchObject({
      claimInMs: null,
      deadlineInMs: null,
    })
    expect(await upcoming()).toMatchObject({
      claimInMs: null,
      deadlineInMs: null,
    })
  },

  'received keeps the output that the signal brought': async (given) => {
    const { run, worker } = await pairWaitingFor(given, null)
    await given.signal(run, 'a', { payload: '{"n":1}' })
    await worker.settle([received(await worker.claimOf(run, 'a'))])
    expect(await run.step('a')).toMatchObject({ status: 'completed', output: '{"n":1}' })
  },
}

/** A started run of a → b in which a waits. */
export async function pairWaitingFor(given: Scenario, wake: Parameters<typeof waiting>[1]) {
  const run = await given.pair()
  const worker = await given.worker()
  await worker.settle([waiting(await worker.claimOf(run, 'a'), wake)])
  return { run, worker }
}
