import { define, PermanentError, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { changed, engines, gate, statuses } from './bench-of-engines.ts'

/** A world of workflows that count what they do. */
function counting() {
  const done = new Map<string, number>()
  const failing = new Set<string>()
  const count = (what: string) => {
    if (failing.has(what)) throw new PermanentError(`no ${what}`)
    done.set(what, (done.get(what) ?? 0) + 1)
    return what
  }
  const child = define('child', { version: 1, input: unchecked<{ of: string }>() })
    .step('first', { run: ({ input }) => count(`${input.of} first`), compensate: () => {} })
    .step('second', { dependsOn: ['first'], run: ({ input }) => count(`${input.of} second`) })
  return { done, failing, count, child }
}

describe('a child with compensate: false that has completed', () => {
  it('is kept by the undo, is reported as kept, and does not run again when its parent is retried', async () => {
    const { clock, worker } = engines()
    const { done, failing, count, child } = counting()
    const parent = define('parent', { version: 1 })
      .step('before', { run: () => count('before'), compensate: () => {} })
      .workflow('kept', child, { dependsOn: ['before'], input: () => ({ of: 'kept' }), compensate: false })
      .step('after', { dependsOn: ['kept'], run: ({ deps }) => deps.kept.second, compensate: () => {} })
      .step('last', { dependsOn: ['after'], retry: false, run: () => count('last') })
    const engine = await worker({ workflows: [parent] })
    failing.add('last')
    const run = await engine.run(parent)

    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))
    const stopped = await run.status()
    failing.clear()
    await run.retry()
    const result = await clock.runUntil(run.result())

    expect(RunFailedError.is(error) && error.undo).toEqual([
      { step: 'before', result: 'compensated', error: undefined },
      { step: 'kept', result: 'kept', error: undefined },
      { step: 'after', result: 'compensated', error: undefined },
    ])
    expect(String(error)).toContain('Undone: 2 of 2. What the children of "kept" did is kept.')
    expect(stopped.steps.map(({ name, status, kept }) => [name, status, kept])).toEqual([
      ['before', 'compensated', false],
      ['kept', 'completed', true],
      ['after', 'compensated', false],
      ['last', 'failed', false],
    ])
    expect(result).toMatchObject({ kept: { first: 'kept first' }, after: 'kept second' })
    expect(done.get('before')).toBe(2)
    expect([done.get('kept first'), done.get('kept second')]).toEqual([1, 1])
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(1)
    expect((await run.status()).steps.map(({ kept }) => kept)).toEqual([false, false, false, false])
  })

  it('also if it completes while its parent is being stopped', async () => {
    const { clock, worker, adapter } = engines()
    const { done, child } = counting()
    const [reading, mayRead] = [gate(), gate()]
    let isHeld = false
    // The parent's undo looks at its child only once the child has completed.
    const slow = changed(adapter, {
      cancelRuns: (request) => {
        isHeld = true
        return adapter.cancelRuns(request)
      },
      changeRun: async (request, options) => {
        if (!isHeld) return adapter.changeRun(request, options)
        reading.open()
        await mayRead.passed
        return adapter.changeRun(request, options)
      },
    })
    const patient = child.waitForSignal('go', { dependsOn: ['second'] })
    const parent = define('parent', { version: 1 })
      .step('before', { run: () => 1, compensate: () => {} })
      .workflow('kept', patient, { dependsOn: ['before'], input: () => ({ of: 'kept' }), compensate: false })
    const engine = await worker({ workflows: [parent], adapter: slow })
    const run = await engine.run(parent)
    await clock.advance('2s')
    const [found] = await engine.runs.list({ parentId: run.id })
    await run.cancel()
    await clock.runUntil(reading.passed)
    await engine.signal(found!, 'go', 1)
    await clock.advance('2s')
    mayRead.open()
    await clock.runUntil(run.result().catch(() => {}))
    expect((await engine.runs.get(found!))?.status).toBe('completed')
    expect(statuses(await run.status())).toEqual({ before: 'compensated', kept: 'cancelled' })
    expect((await run.status()).steps.find(({ name }) => name === 'kept')).toMatchObject({ kept: true })

    await run.retry()
    expect(await clock.runUntil(run.result())).toMatchObject({ kept: { go: 1 } })

    expect([done.get('kept first'), done.get('kept second')]).toEqual([1, 1])
  })

  it('is kept as an item of a fan, while the others run again', async () => {
    const { clock, worker } = engines()
    const { done, failing, count, child } = counting()
    const parent = define('parent', { version: 1 })
      .step('before', { run: () => count('before'), compensate: () => {} })
      .workflow('all', child, {
        dependsOn: ['before'],
        over: () => ['a', 'b', 'c'],
        itemKey: (of) => of,
        input: ({ item }) => ({ of: item }),
        compensate: false,
        concurrency: 1,
      })
    const engine = await worker({ workflows: [parent] })
    failing.add('c second')
    const run = await engine.run(parent)
    const error = await clock.runUntil(run.result().catch((thrown: unknown) => thrown))
    failing.clear()

    await run.retry()
    const result = await clock.runUntil(run.result())

    expect(RunFailedError.is(error) && error.undo.filter(({ result: how }) => how === 'kept')).toMatchObject([
      { step: 'all[a]' },
      { step: 'all[b]' },
    ])
    expect(result).toMatchObject({
      all: [{ second: 'a second' }, { second: 'b second' }, { second: 'c second' }],
    })
    expect(['a', 'b', 'c'].map((of) => done.get(`${of} second`))).toEqual([1, 1, 1])
    expect(['a', 'b'].map((of) => done.get(`${of} first`))).toEqual([1, 1])
  })

  it('is kept as a round of a loop, which goes on after it', async () => {
    const { clock, worker } = engines()
    const { done, failing, child } = counting()
    const parent = define('parent', { version: 1 }).repeat('rounds', child, {
      input: ({ round }) => ({ of: `round ${round}` }),
      until: ({ round }) => round === 3,
      max: 5,
      compensate: false,
    })
    const engine = await worker({ workflows: [parent] })
    failing.add('round 3 second')
    const run = await engine.run(parent)
    await clock.runUntil(run.result().catch(() => {}))
    failing.clear()

    await run.retry()
    await clock.runUntil(run.result())

    expect([1, 2, 3].map((round) => done.get(`round ${round} second`))).toEqual([1, 1, 1])
    expect([1, 2].map((round) => done.get(`round ${round} first`))).toEqual([1, 1])
  })
})
