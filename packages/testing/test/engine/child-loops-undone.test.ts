import { define, RunFailedError, unchecked } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { assertInvariants } from '../../src/index.ts'
import { changed, engines, StoppableClock, statuses } from './bench-of-engines.ts'

interface Options {
  readonly pages: number
  readonly max?: number
  readonly onFailure?: 'continue'
  readonly failsUntil?: number
}

/** Imports so many pages, one child after the other, and publishes them. What fails may be changed meanwhile. */
function importing({ pages, max, onFailure, failsUntil = 0 }: Options) {
  const told: string[] = []
  const fails: { page?: number; publish?: boolean; until: number } = { until: failsUntil }
  const child = define('page', { version: 1, input: unchecked<{ page: number }>() })
    .step('fetch', {
      run: ({ input }) => {
        told.push(`fetch ${input.page}`)
        return input.page
      },
      compensate: ({ input }) => void told.push(`remove ${input.page}`),
    })
    .step('check', {
      dependsOn: ['fetch'],
      retry: false,
      run: ({ input }) => {
        if (input.page === fails.page) throw new Error(`page ${input.page} is torn`)
      },
    })
  const workflow = define('import', { version: 1 })
    .step('open', { run: () => 'opened', compensate: () => void told.push('close') })
    .repeat('read', child, {
      dependsOn: ['open'],
      retry: { attempts: 3, initial: '1s' },
      input: ({ round }: { round: number }) => ({ page: round }),
      until: ({ output }: { output: { fetch: number } }) => {
        if (fails.until-- > 0) throw new Error('until is broken')
        return output.fetch === pages
      },
      max,
      onFailure,
    } as never)
    .step('publish', {
      dependsOn: ['read'],
      retry: false,
      run: ({ deps }) => {
        if (fails.publish) throw new Error('refused')
        return (deps as { readonly read: unknown }).read
      },
      compensate: () => void told.push('withdraw'),
    })
  return { told, workflow, fails }
}

const slow = define('slow', { version: 1, input: unchecked<{ page: number }>() })
  .step('begin', { run: ({ input }) => input.page, compensate: () => {} })
  .waitForSignal('go', { dependsOn: ['begin'], schema: unchecked<number>() })

const slowImport = define('import', { version: 1 }).repeat('read', slow, {
  input: ({ round }) => ({ page: round }),
  until: ({ round }) => round === 2,
})

const ended = (error: unknown) => error

describe('the failure of a child of a loop', () => {
  it('fails the run: the children of the rounds before are undone, the last one first', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told, fails } = importing({ pages: 3 })
    fails.page = 3
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch(ended))

    expect(RunFailedError.is(error)).toBe(true)
    expect(String(error)).toContain('page 3 is torn')
    expect(told.filter((text) => !text.startsWith('fetch'))).toEqual([
      'remove 3',
      'remove 2',
      'remove 1',
      'close',
    ])
    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'cancelled', 'compensated'])
    assertInvariants(adapter.dump())
  })

  it("with onFailure: 'continue' is what dependents get, and the rounds before are kept", async () => {
    const { clock, worker } = engines()
    const { workflow, told, fails } = importing({ pages: 3, onFailure: 'continue' })
    fails.page = 2
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const outputs = await clock.runUntil(run.result())

    expect(outputs).toMatchObject({ publish: { status: 'failed', error: { code: 'child_failed' } } })
    expect(told).toEqual(['fetch 1', 'fetch 2', 'remove 2'])
    expect(statuses(await run.status())).toMatchObject({
      'read[1]': 'completed',
      'read[2]': 'failed',
      read: 'failed',
    })
  })

  it('is retried with another child of the same round, once the rounds before were undone with it', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told, fails } = importing({ pages: 2 })
    fails.page = 2
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(ended))
    fails.page = 7
    told.length = 0

    await run.retry()
    await clock.runUntil(run.result())

    expect(told).toEqual(['fetch 1', 'fetch 2'])
    const keys = (await engine.runs.list({ parentId: run.id })).map(({ key }) => key)
    expect(keys).toContain(`child:${run.id}:read[1]:2`)
    expect(keys).toContain(`child:${run.id}:read[2]:2`)
    expect(keys).toHaveLength(4)
    assertInvariants(adapter.dump())
  })
})

describe('what follows a child of a loop', () => {
  it('is asked again if until throws, and no child is started again', async () => {
    const { clock, worker } = engines()
    const { workflow, told } = importing({ pages: 2, failsUntil: 2 })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)

    expect(await clock.runUntil(run.result())).toMatchObject({ publish: { fetch: 2 } })
    expect(told).toEqual(['fetch 1', 'fetch 2'])
  })

  it('fails the round if until goes on throwing, and undoes its child', async () => {
    const { clock, worker } = engines()
    const { workflow, told } = importing({ pages: 2, failsUntil: 99 })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch(ended))

    expect(String(error)).toContain('until is broken')
    expect(told).toEqual(['fetch 1', 'remove 1', 'close'])
  })

  it('is rounds_exhausted if max children were not enough, and all of them are undone', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told } = importing({ pages: 9, max: 2 })
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    const error = await clock.runUntil(run.result().catch(ended))

    expect(RunFailedError.is(error) && error.cause).toMatchObject({
      code: 'rounds_exhausted',
    })
    expect(told).toEqual(['fetch 1', 'fetch 2', 'remove 2', 'remove 1', 'close'])
    assertInvariants(adapter.dump())
  })

  it('is undone in reverse order if the run fails later, and runs anew after a retry', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told, fails } = importing({ pages: 3 })
    fails.publish = true
    const engine = await worker({ workflows: [workflow] })

    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(ended))
    const undone = told.splice(0)
    fails.publish = false
    await run.retry()
    await clock.runUntil(run.result())

    expect(undone.slice(3)).toEqual(['remove 3', 'remove 2', 'remove 1', 'close'])
    expect(told).toEqual(['fetch 1', 'fetch 2', 'fetch 3'])
    assertInvariants(adapter.dump())
  })
})

describe('a loop whose child has not ended', () => {
  it('cancels and undoes it when its run is cancelled, and then the child before it', async () => {
    const { clock, worker, adapter } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const run = await engine.run(slowImport)
    await clock.advance('1s')
    const [first] = await engine.runs.list({ parentId: run.id })
    await engine.signal(first!, 'go', 1)
    await clock.advance('1s')

    await run.cancel()
    await clock.runUntil(run.result().catch(ended))

    const children = await engine.runs.list({ parentId: run.id })
    expect(children.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    expect(statuses(await run.status())).toMatchObject({
      'read[1]': 'compensated',
      'read[2]': 'compensated',
      read: 'cancelled',
    })
    assertInvariants(adapter.dump())
  })

  it('pauses and resumes it with its run', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const run = await engine.run(slowImport)
    await clock.advance('1s')
    const states = async () => (await engine.runs.list({ parentId: run.id })).map(({ status }) => status)

    await run.pause()
    const paused = await states()
    await run.resume()

    expect(paused).toEqual(['paused'])
    expect(await states()).toEqual(['waiting'])
  })

  it('ends with a stand-in for a round that an operator skips', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const run = await engine.run(slowImport)
    await clock.advance('1s')

    await run.skipStep('read[1]', { output: { begin: 7, go: 1 } })

    expect(await clock.runUntil(run.result())).toEqual({ read: { begin: 7, go: 1 } })
    expect(await engine.runs.list({ parentId: run.id })).toMatchObject([{ status: 'waiting' }])
  })

  it('looks at it at once when an operator retries the round', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [slowImport] })
    const run = await engine.run(slowImport)
    await clock.advance('1s')

    await run.retryStep('read[1]')
    await clock.advance('1s')

    expect(statuses(await run.status())).toMatchObject({ 'read[1]': 'waiting' })
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(1)
  })

  it('after a pivot, is retried together with the round that failed with it', async () => {
    const { clock, worker } = engines()
    let torn = true
    const child = define('page', { version: 1 }).step('fetch', {
      retry: false,
      run: ({ runId }) => {
        if (torn) throw new Error('torn')
        return runId
      },
    })
    const workflow = define('import', { version: 1 })
      .step('pay', { pivot: true, run: () => {} })
      .repeat('read', child, { dependsOn: ['pay'], until: ({ round }) => round === 2 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1s')
    const parked = await run.status()
    torn = false

    await run.retryStep('read[1]')
    await clock.runUntil(run.result())

    expect(parked.status).toBe('parked')
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(2)
  })
})

describe('a worker that dies around a child of a loop', () => {
  /** Stops a worker before or after its nth call of a verb; another one goes on. */
  async function killed(verb: 'startRuns' | 'settle', nth: number, when: 'before' | 'after') {
    const { clock, worker, adapter } = engines()
    const { workflow, told } = importing({ pages: 3 })
    const stoppable = new StoppableClock(clock)
    let calls = 0
    const never = new Promise<never>(() => {})
    const dying = changed(adapter, {
      [verb]: async (request: never) => {
        calls += 1
        if (calls > nth || (calls === nth && when === 'before')) {
          stoppable.stop()
          return never
        }
        const answer = await (adapter[verb] as (given: never) => Promise<unknown>)(request)
        if (calls < nth) return answer
        stoppable.stop()
        return never
      },
    } as Partial<Adapter>)
    const first = await worker({ adapter: dying, workflows: [workflow], clock: stoppable })
    const started = first.run(workflow, undefined, { key: 'one' })
    started.catch(() => {})
    await clock.advance('5s')
    const second = await worker({ workflows: [workflow] })
    await clock.advance('2m')
    const run = second.runs.handle((await second.run(workflow, undefined, { key: 'one' })).id)
    const outputs = await clock.runUntil(run.result())
    const children = await second.runs.list({ parentId: run.id })
    assertInvariants(adapter.dump())
    return { outputs, children, told, calls }
  }

  const calls = { startRuns: [2, 3, 4], settle: [2, 3, 4, 5, 6, 8, 10] } as const
  const points = (['startRuns', 'settle'] as const).flatMap((verb) =>
    calls[verb].flatMap((nth) => (['before', 'after'] as const).map((when) => ({ verb, nth, when }))),
  )

  it.each(points)('$when $verb $nth costs no child and starts none twice', async ({ verb, nth, when }) => {
    const { outputs, children, told, calls } = await killed(verb, nth, when)

    expect(outputs).toMatchObject({ publish: { fetch: 3 } })
    expect(calls).toBeGreaterThanOrEqual(nth)
    expect(children).toHaveLength(3)
    // A step whose worker died is called again, by its idempotency key.
    expect([...new Set(told)]).toEqual(['fetch 1', 'fetch 2', 'fetch 3'])
  })

  it('is found by the key of the round when the answer of a settlement was lost', async () => {
    const { clock, worker, adapter } = engines()
    const { workflow, told } = importing({ pages: 3 })
    let lost = 0
    const forgetful = changed(adapter, {
      settle: async (request) => {
        const answer = await adapter.settle(request)
        lost += 1
        if (lost % 3 === 0) throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
        return answer
      },
    })
    const engine = await worker({ adapter: forgetful, workflows: [workflow] })

    const run = await engine.run(workflow)
    const outputs = await clock.runUntil(run.result(), { limit: '1h' })

    expect(outputs).toMatchObject({ publish: { fetch: 3 } })
    expect(await engine.runs.list({ parentId: run.id })).toHaveLength(3)
    expect(told).toEqual(['fetch 1', 'fetch 2', 'fetch 3'])
    assertInvariants(adapter.dump())
  })
})
