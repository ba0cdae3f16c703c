import type { UndoPlan } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { type CaseRun, PAIR, planUndo, type Scenario } from '../scenario/index.ts'

export const undoCases: Cases = {
  'a plan without undos ends a failed run at once': async (given) => {
    const run = await given.pair()
    await (await given.worker()).fail(run, 'a')
    await given.drain()
    await given.advance(5)

    const moved = await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

    expect(moved).toMatchObject([{ runId: run.id, status: 'failed' }])
    const record = await run.record()
    expect(record.status).toBe('failed')
    expect(record.finishedAt! - record.createdAt).toBeCloseTo(5, 0)
    expect(await run.statuses()).toEqual({ a: 'failed', b: 'cancelled' })
  },

  'a plan without undos ends a cancelled run at once': async (given) => {
    const run = await given.pair()
    await given.cancel(run)
    await given.drain()

    const moved = await given.adapter.beginUndo([{ runId: run.id, endsAs: 'cancelled', undos: [] }])

    expect(moved).toMatchObject([{ runId: run.id, status: 'cancelled' }])
    expect(await run.status()).toBe('cancelled')
  },

  'an undo begins with the steps on which no open undo depends': async (given) => {
    const { run, plan } = await stopped(given)

    const moved = await given.adapter.beginUndo([plan])
    const claims = await (await given.worker()).take()

    expect(moved).toMatchObject([{ runId: run.id, status: 'compensating' }])
    expect(claims).toMatchObject([
      { step: 1, fence: 2, direction: 'undo', undoOf: 'completed', failures: 0, losses: 0 },
    ])
    expect(await run.step('s0')).toMatchObject({
      status: 'compensating',
      undoOf: 'completed',
      openDependencies: 1,
      workerId: null,
    })
  },

  'an undo begins once: a second plan changes nothing': async (given) => {
    const { run, plan } = await stopped(given)
    await given.adapter.beginUndo([plan])
    const before = await given.snapshot()

    const again = await given.adapter.beginUndo([plan])
    const other = await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

    expect([again, other]).toEqual([[], []])
    expect(await given.snapshot()).toEqual(before)
    expect(await (await given.worker()).take()).toHaveLength(1)
  },

  'a plan for a run whose undo has ended changes nothing': async (given) => {
    const { run, plan } = await stopped(given)
    const worker = await given.worker()
    await given.adapter.beginUndo([plan])
    await worker.compensate(run, 's1')
    await worker.compensate(run, 's0')
    const before = await given.snapshot()

    expect(await given.adapter.beginUndo([plan])).toEqual([])
    expect(await given.snapshot()).toEqual(before)
    expect(await run.status()).toBe('compensated')
  },

  'a plan for a run that goes forward, has completed, or is unknown changes nothing': async (given) => {
    const graph = await given.graph('single', { a: [] })
    const [going, completed] = [await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await worker.complete(completed, 'a')
    const before = await given.snapshot()
    const runIds = [going.id, completed.id, given.ids.runId()]

    const moved = await given.adapter.beginUndo(
      runIds.map((runId) => ({ runId, endsAs: 'failed' as const, undos: [] })),
    )

    expect(moved).toEqual([])
    expect(await given.snapshot()).toEqual(before)
  },

  'a plan for a run with a step in flight changes nothing': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    await worker.claimsOf(run, 's0', 's1')
    await worker.fail(run, 's0')
    const before = await given.snapshot()

    expect(await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])).toEqual([])
    expect(await given.snapshot()).toEqual(before)
  },

  'a plan changes nothing if a lost step was requeued since the run was drained': async (given) => {
    const run = await given.loose(2)
    const [worker, dying] = [await given.worker(), await given.worker()]
    const [mine] = await worker.take(1)
    await dying.take(1)
    await worker.fail(run, run.graph.nameOf(mine!.step))
    await given.expireLeases()
    await given.sweep()

    const moved = await given.adapter.beginUndo([{ runId: run.id, endsAs: 'failed', undos: [] }])

    // The step is ready again, so a drain must cancel it first.
    expect(moved).toEqual([])
    expect(await run.status()).toBe('compensating')
    expect(await given.drain()).toHaveLength(1)
  },

  'several plans of one call begin, and those that cannot are left out': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = [await given.start(graph), await given.start(graph), await given.start(graph)]
    const worker = await given.worker()
    await given.cancel(runs[2]!)
    await worker.complete(runs[0]!, 'a')
    await worker.fail(runs[0]!, 'b')
    const drained = await given.drain()
    const plans = drained.map((run) => planUndo(run, graph))

    const moved = await given.adapter.beginUndo([
      ...plans,
      { runId: runs[1]!.id, endsAs: 'failed', undos: [] },
    ])

    expect([...moved].sort((one, two) => (one.runId < two.runId ? -1 : 1))).toMatchObject([
      { runId: runs[0]!.id, status: 'compensating' },
      { runId: runs[2]!.id, status: 'cancelled' },
    ])
    expect(await runs[1]!.status()).toBe('running')
  },

  'undos that wait for nothing are leased to the worker that begins them': async (given) => {
    const { run, plan } = await stopped(given)
    const worker = await given.worker()

    const [moved] = await given.adapter.beginUndo([plan], { workerId: worker.id, handBackMax: 5 })

    expect(moved).toMatchObject({ runId: run.id, status: 'compensating' })
    expect(moved?.claims).toEqual([
      { ...moved!.claims![0]!, runId: run.id, step: 1, fence: 2, direction: 'undo', undoOf: 'completed' },
    ])
    expect(await worker.held()).toEqual(moved?.claims)
    expect(await worker.claim()).toEqual([])
    expect((await run.step('s1')).workerId).toBe(worker.id)
  },

  'undos beyond the worker’s limit are left to be claimed': async (given) => {
    const run = await given.loose(3)
    const worker = await given.worker()
    await worker.complete(run, 's0', 's1')
    await worker.fail(run, 's2')
    const [drained] = await given.drain({ runs: [run] })

    const [moved] = await given.adapter.beginUndo([planUndo(drained!, run.graph)], {
      workerId: worker.id,
      handBackMax: 1,
    })

    expect(moved?.claims).toMatchObject([{ step: 0 }])
    expect(await worker.take()).toMatchObject([{ step: 1 }])
  },

  'a worker that was declared dead can begin an undo, but gets no lease on it': async (given) => {
    const { run, plan } = await stopped(given)
    const worker = await given.worker()
    await given.expireLeases()
    const heir = await given.worker()
    await given.sweep()

    const moved = await given.adapter.beginUndo([plan], { workerId: worker.id, handBackMax: 5 })

    expect(moved).toMatchObject([{ runId: run.id, status: 'compensating', claims: [] }])
    expect(await heir.take()).toMatchObject([{ step: 1 }])
  },

  'beginning nothing returns nothing': async ({ adapter }) => {
    expect(await adapter.beginUndo([])).toEqual([])
  },

  'an undo counts its own attempts, failures and losses': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await given.expireLeases()
    const heir = await given.worker()
    await worker.take()
    await given.sweep()
    const claim = await heir.claimOf(run, 'a')
    await heir.settle([{ ...claim, type: 'retry', error: '{"name":"Error","message":"x"}', delayMs: 0 }])
    await heir.complete(run, 'a')
    const forward = await run.step('a')
    await heir.fail(run, 'b')
    await given.undo(run)

    const claims = await heir.take()

    expect(forward).toMatchObject({ attempts: 3, failures: 1, losses: 1 })
    expect(claims).toMatchObject([{ fence: 4, attempt: 1, failures: 0, losses: 0, direction: 'undo' }])
  },

  'an undo that begins in two processes at the same moment begins once': withSecond(async (given, second) => {
    const graph = await given.graph('pair', PAIR)
    for (let round = 0; round < 5; round += 1) {
      const run = await given.start(graph)
      const worker = await given.worker()
      await worker.complete(run, 'a')
      await worker.fail(run, 'b')
      const [drained] = await given.drain({ runs: [run] })
      const plan = planUndo(drained!, graph)

      const moved = await Promise.all([given.adapter.beginUndo([plan]), second.beginUndo([plan])])

      expect(moved.flat()).toMatchObject([{ runId: run.id, status: 'compensating' }])
      expect(await worker.take()).toHaveLength(1)
      expect((await worker.compensate(run, 'a')).runs).toMatchObject([
        { runId: run.id, status: 'compensated' },
      ])
    }
  }),
}

/** s0 → s1 → s2: s0 and s1 completed, s2 failed. The run is drained and its undo is planned. */
async function stopped(given: Scenario): Promise<{ run: CaseRun; plan: UndoPlan }> {
  const run = await given.chain(3)
  const worker = await given.worker()
  await worker.complete(run, 's0')
  await worker.complete(run, 's1')
  await worker.fail(run, 's2')
  const [drained] = await given.drain({ runs: [run] })
  return { run, plan: planUndo(drained!, run.graph) }
}
