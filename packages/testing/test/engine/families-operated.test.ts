import { define, type Engine, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { changed, engines, gate, statuses } from './bench-of-engines.ts'

/** A family whose child charges and then may fail; what is charged is counted by business key. */
function charging() {
  const failing = new Set<string>()
  const charges = new Map<string, number>()
  const count = (key: string, by: number) => {
    charges.set(key, (charges.get(key) ?? 0) + by)
  }
  const child = define('child', { version: 1, input: unchecked<{ id: string }>() })
    .step('charge', {
      run: ({ input }) => count(input.id, 1),
      compensate: ({ input }) => count(input.id, -1),
    })
    .step('book', {
      dependsOn: ['charge'],
      retry: false,
      run: ({ input }) => {
        if (failing.has(input.id)) throw new Error('not yet')
      },
    })
  const parent = define('parent', { version: 1, input: unchecked<{ id: string }>() }).workflow(
    'pay',
    child,
    {},
  )
  const childOf = async (engine: Engine, run: { readonly id: string }) =>
    (await engine.runs.list({ parentId: run.id }))[0]!
  return { failing, charges, child, parent, childOf }
}

describe('retryMany()', () => {
  it('retries children through their parents, and reports those that it leaves out, also in a dry run', async () => {
    const { clock, worker } = engines()
    const { failing, charges, parent, childOf } = charging()
    const engine = await worker({ workflows: [parent] })
    failing.add('7')
    const run = await engine.run(parent, { id: '7' })
    await clock.runUntil(run.result().catch(() => {}))
    const { id: childId } = await childOf(engine, run)
    failing.clear()

    const dry = await engine.runs.retryMany({ status: ['failed', 'compensated'] }, { dryRun: true })
    const done = await engine.runs.retryMany({ status: ['failed', 'compensated'] })
    await clock.runUntil(run.result())
    await clock.advance('5s')

    const why = `Run ${childId} of "child" cannot be retried alone: it shares the fate of its parent. Retry run ${run.id} once it has ended or is parked: its step runs again with a child. If it has completed, start another run instead.`
    for (const result of [dry, done])
      expect(result).toMatchObject({
        ...{ matched: 2, runIds: [run.id], refused: [{ runId: childId, why, instead: run.id }] },
        refusals: [{ runIds: [childId], instead: [run.id] }],
      })
    expect(charges.get('7')).toBe(1)
  })

  it('does so when a parent and its child are in different pages', async () => {
    const { clock, worker } = engines()
    const { failing, charges, parent } = charging()
    const engine = await worker({ workflows: [parent], concurrency: 500 })
    const ids = Array.from({ length: 150 }, (_, index) => String(index))
    for (const id of ids) failing.add(id)
    const runs = await engine.runMany(
      parent,
      ids.map((id) => ({ input: { id } })),
    )
    for (const run of runs) await clock.runUntil(run.result().catch(() => {}))
    failing.clear()

    const result = await engine.runs.retryMany({ status: ['failed', 'compensated'] })
    for (const run of runs) await clock.runUntil(run.result())

    expect(result).toMatchObject({ matched: 300, changed: 150 })
    expect(result.refused).toHaveLength(150)
    expect([...new Set(charges.values())]).toEqual([1])
  })
})

describe('a child that has ended', () => {
  it('cannot be retried in part either, nor continued by skipping a step', async () => {
    const { clock, worker } = engines()
    const { failing, parent, childOf } = charging()
    const engine = await worker({ workflows: [parent] })
    failing.add('1')
    const run = await engine.run(parent, { id: '1' })
    await clock.runUntil(run.result().catch(() => {}))
    const child = engine.runs.handle((await childOf(engine, run)).id)

    for (const act of [() => child.retry(), () => child.retryStep('book'), () => child.skipStep('book')])
      await expect(act()).rejects.toMatchObject({
        code: 'action_refused',
        message: expect.stringContaining(`Retry run ${run.id} once it has ended`),
      })
    expect((await child.status()).status).toBe('compensated')
  })

  it('of a parent that went on without it is a run that somebody else has answered for', async () => {
    const { clock, worker } = engines()
    const { failing, child, childOf } = charging()
    const parent = define('goes-on', { version: 1, input: unchecked<{ id: string }>() }).workflow(
      'pay',
      child,
      {
        onFailure: 'continue',
      },
    )
    const engine = await worker({ workflows: [parent] })
    failing.add('1')
    const run = await engine.run(parent, { id: '1' })
    await clock.runUntil(run.result())

    const retried = engine.runs.handle((await childOf(engine, run)).id).retry()

    await expect(retried).rejects.toThrow(
      `Retry run ${run.id} once it has ended or is parked: its step runs again with a child. If it has completed, start another run instead.`,
    )
  })

  it('is left to its parent also while its parent has not looked', async () => {
    const { clock, worker } = engines()
    const { failing, charges, child: charge, childOf } = charging()
    const child = charge.waitForSignal('go', { dependsOn: ['charge'] }).step('ship', {
      dependsOn: ['go'],
      retry: false,
      run: ({ input }) => {
        if (failing.has(input.id)) throw new Error('not yet')
      },
    })
    const parent = define('patient', { version: 1, input: unchecked<{ id: string }>() }).workflow(
      'pay',
      child,
      {},
    )
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent, { id: '1' })
    await clock.advance('2s')
    // The child ends while its parent is paused: the step of the parent has not looked.
    await run.pause()
    const owned = engine.runs.handle((await childOf(engine, run)).id)
    await owned.resume()
    failing.add('1')
    await engine.signal(owned, 'go', 1)
    await clock.advance('5s')
    expect((await owned.status()).status).toBe('compensated')
    failing.clear()

    await expect(owned.retry()).rejects.toMatchObject({ code: 'action_refused', runId: owned.id })
    await run.resume()
    await clock.runUntil(run.result().catch(() => {}))
    await run.retry()
    await clock.advance('2s')
    const again = await engine.runs.list({ parentId: run.id, status: 'waiting' })
    await engine.signal(again[0]!, 'go', 1)
    await clock.runUntil(run.result())

    expect(again).toHaveLength(1)
    expect(charges.get('1')).toBe(1)
  })

  it('is left to its parent also while the parent moves to a version in which a detached step has the old number', async () => {
    const { clock, worker, adapter, engine: operators } = engines()
    const { failing, charges, child, parent, childOf } = charging()
    const next = define('parent', { version: 2, input: unchecked<{ id: string }>() })
      .workflow('aside', child, { detached: true })
      .workflow('pay', child, {})
    const engine = await worker({ workflows: [parent, next] })
    failing.add('1')
    const run = await engine.run(parent, { id: '1' })
    await clock.runUntil(run.result().catch(() => {}))
    const { id: childId } = await childOf(engine, run)
    const moving = changed(adapter, {
      findRun: async (lookup, options) => {
        await engine.migrateRun(run, next)
        return adapter.findRun(lookup, options)
      },
    })

    const retried = operators({ workflows: [parent], adapter: moving })
      .runs.handle(childId)
      .retry()

    await expect(retried).rejects.toMatchObject({ code: 'action_refused', runId: childId })
    expect((await engine.runs.get(run.id))?.version).toBe(2)
    expect(charges.get('1')).toBe(0)
  })

  it('that is detached is a run of its own', async () => {
    const { clock, worker } = engines()
    const { failing, charges, child, childOf } = charging()
    const parent = define('aside', { version: 1, input: unchecked<{ id: string }>() }).workflow(
      'pay',
      child,
      {
        detached: true,
      },
    )
    const engine = await worker({ workflows: [parent] })
    failing.add('1')
    const run = await engine.run(parent, { id: '1' })
    await clock.runUntil(run.result())
    await clock.advance('5s')
    failing.clear()

    await engine.runs.handle((await childOf(engine, run)).id).retry()
    await clock.advance('5s')

    expect((await childOf(engine, run)).status).toBe('completed')
    expect(charges.get('1')).toBe(1)
  })
})

describe('a child whose undo is parked', () => {
  it('has not ended: an operator repairs its undo, and its parent can be retried then', async () => {
    const { clock, worker } = engines()
    const broken = new Set(['refund', 'book'])
    const fail = (what: string) => {
      if (broken.has(what)) throw new PermanentError(`${what} is down`)
    }
    let charged = 0
    const child = define('child', { version: 1 })
      .step('charge', {
        run: () => {
          charged += 1
        },
        compensate: () => {
          fail('refund')
          charged -= 1
        },
      })
      .step('book', { dependsOn: ['charge'], run: () => fail('book') })
    const parent = define('parent', { version: 1 }).workflow('pay', child, {})
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('5s')
    const { id } = (await engine.runs.list({ parentId: run.id }))[0]!
    expect((await engine.runs.get(id))?.status).toBe('compensation_failed')
    broken.clear()

    await engine.runs.handle(id).retryCompensation('charge')
    await clock.runUntil(run.result().catch(() => {}))
    expect(charged).toBe(0)
    await engine.runs.retryMany({ status: ['failed', 'compensated'] })
    await clock.runUntil(run.result())

    expect(charged).toBe(1)
  })
})

/** A parent whose child waits for a signal. */
function waiting() {
  const child = define('child', { version: 1 }).waitForSignal('go')
  const parent = define('parent', { version: 1 }).workflow('wait', child, {})
  return { child, parent }
}

describe('a parent that was cancelled without an undo', () => {
  it('goes on with its child after its own retry: nobody has to retry the child', async () => {
    const { clock, worker } = engines()
    const { parent } = waiting()
    const engine = await worker({ workflows: [parent] })
    const run = await engine.run(parent)
    await clock.advance('1s')
    const [child] = await engine.runs.list({ parentId: run.id })
    await run.cancel({ compensate: false })
    await clock.runUntil(run.result().catch(() => {}))
    await clock.advance('2s')
    expect((await engine.runs.get(child!))?.status).toBe('cancelled')

    await run.retry()
    await clock.advance('2s')
    await engine.signal(child!, 'go', 1)

    expect(await clock.runUntil(run.result())).toEqual({ wait: { go: 1 } })
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(1)
  })
})

describe('resume() of a family', () => {
  it('also reaches a child that an attempt pauses at the same time', async () => {
    const { clock, worker, adapter, engine: operators } = engines()
    const { parent } = waiting()
    const [started, mayStart, pausing, mayPause] = [gate(), gate(), gate(), gate()]
    // The worker's attempt starts the child while its parent is paused, and then hangs before it pauses the child.
    const held = changed(adapter, {
      startRuns: async (runs, options) => {
        if (runs[0]?.parent == null) return adapter.startRuns(runs, options)
        started.open()
        await mayStart.passed
        return adapter.startRuns(runs, options)
      },
      changeRun: async (request, options) => {
        pausing.open()
        await mayPause.passed
        return adapter.changeRun(request, options)
      },
    })
    await worker({ workflows: [parent], adapter: held })
    const operator = operators({ workflows: [parent] })
    const run = await operator.run(parent)
    await clock.runUntil(started.passed)
    await operator.runs.handle(run.id).pause()
    mayStart.open()
    await clock.runUntil(pausing.passed)

    await operator.runs.handle(run.id).resume()
    mayPause.open()
    await clock.advance('5s')

    const [child] = await operator.runs.list({ parentId: run.id })
    expect(child?.status).toBe('waiting')
    expect((await operator.runs.get(run.id))?.status).toBe('waiting')
  })
})

describe('a child of which the parent was abandoned', () => {
  it('is not started late by a worker that was frozen', async () => {
    const { clock, worker, adapter, engine: operators } = engines()
    const { parent } = waiting()
    const [starting, mayStart] = [gate(), gate()]
    const frozen = changed(adapter, {
      renew: () => new Promise(() => {}),
      startRuns: async (runs, options) => {
        if (runs[0]?.parent == null) return adapter.startRuns(runs, options)
        starting.open()
        await mayStart.passed
        return adapter.startRuns(runs, options)
      },
    })
    await worker({ workflows: [parent], adapter: frozen })
    const operator = operators({ workflows: [parent] })
    const run = await operator.run(parent)
    await clock.runUntil(starting.passed)
    await operator.runs.handle(run.id).cancel({ compensate: false })
    await operator.start()
    await clock.runUntil(
      operator.runs
        .handle(run.id)
        .result()
        .catch(() => {}),
    )
    await clock.advance('10s')

    mayStart.open()
    await clock.advance('10s')

    expect(await operator.runs.list({ parentId: run.id })).toEqual([])
    expect(statuses(await operator.runs.get(run.id))).toEqual({ wait: 'cancelled' })
  })
})

describe('depthMax', () => {
  it('does not count parents above a detached child', async () => {
    const { clock, worker } = engines()
    const countdown = define('countdown', { version: 1, input: unchecked<{ n: number }>() }).workflow(
      'next',
      'countdown',
      {
        when: ({ input }) => input.n > 0,
        input: ({ input }) => ({ n: input.n - 1 }),
        detached: true,
        depthMax: 3,
      },
    )
    const engine = await worker({ workflows: [countdown] })

    await engine.run(countdown, { n: 12 })
    await clock.advance('30s')

    expect(await engine.runs.count({ workflow: 'countdown', status: 'completed' })).toMatchObject({
      count: 13,
    })
  })
})
