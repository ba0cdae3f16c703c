import { define, defineGraph, type EngineEvents, RunFailedError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const customer = unchecked<{ customer: string }>()

describe('a step with atLimit skip', () => {
  it('is skipped while its key has no slot, with its dependents, and the run completes', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('refresh', { version: 1, input: customer })
      .step('warm', {
        when: () => true,
        concurrency: { limit: 1, key: ({ input }) => input.customer, atLimit: 'skip' },
        run: async () => {
          await sleep(1_000)
          return 'warm'
        },
      })
      .step('tell', { dependsOn: ['warm'], run: ({ deps }) => `it is ${deps.warm}` })
      .step('note', {
        dependsOn: ['warm'],
        onSkipped: 'run',
        run: ({ deps }) => deps.warm ?? 'somebody else does it',
      })
    const engine = await worker({ workflows: [workflow] })
    const reasons: unknown[] = []
    engine.on('step.skipped', ({ step, reason }: EngineEvents['step.skipped']) =>
      reasons.push([step, reason]),
    )

    const first = await engine.run(workflow, { customer: 'acme' })
    await clock.advance(10)
    const second = await engine.run(workflow, { customer: 'acme' })
    const other = await engine.run(workflow, { customer: 'bell' })

    expect(await clock.runUntil(second.result())).toMatchObject({ note: 'somebody else does it' })
    expect(statuses(await engine.runs.get(second.id))).toEqual({
      warm: 'skipped',
      tell: 'skipped',
      note: 'completed',
    })
    expect(reasons).toContainEqual(['warm', { because: 'limit', limit: 'refresh.warm', key: 'acme' }])
    expect((await second.explain())?.skipped?.[0]?.sentence).toBe(
      '"warm" was skipped: limit "refresh.warm" had no slot for key "acme".',
    )
    for (const run of [first, other]) {
      expect(await clock.runUntil(run.result())).toMatchObject({ tell: 'it is warm' })
    }
    const after = await engine.run(workflow, { customer: 'acme' })
    expect(await clock.runUntil(after.result())).toMatchObject({ tell: 'it is warm' })
    expect(await engine.limits.get('refresh.warm')).toMatchObject({ inUse: 0, waiting: 0 })
  })

  it('is not skipped for the limit of its workflow, for which its run waits', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('mixed', { version: 1, concurrency: { limit: 1 } }).step('work', {
      when: () => true,
      concurrency: { limit: 1, atLimit: 'skip' },
      run: () => sleep(100).then(() => 'done'),
    })
    const engine = await worker({ workflows: [workflow] })

    const runs = [await engine.run(workflow), await engine.run(workflow)]

    for (const run of runs) expect(await clock.runUntil(run.result())).toEqual({ work: 'done' })
  })
})

describe('a workflow with atLimit skip', () => {
  it('cancels a new run without a slot before anything of it runs, and says why', async () => {
    const { clock, worker, sleep } = engines()
    const begun: string[] = []
    const workflow = define('sync', {
      version: 1,
      input: customer,
      concurrency: { limit: 1, key: ({ input }) => input.customer, atLimit: 'skip' },
    })
      .step('download', {
        run: async ({ runId }) => {
          begun.push(runId)
          await sleep(1_000)
        },
        compensate: () => void begun.push('undone'),
      })
      .step('import', { dependsOn: ['download'], run: () => 'imported' })
    const engine = await worker({ workflows: [workflow] })

    const first = await engine.run(workflow, { customer: 'acme' })
    await clock.advance(10)
    const second = await engine.run(workflow, { customer: 'acme' })
    const error = await clock.runUntil(second.result().catch((reason: unknown) => reason))

    expect(RunFailedError.is(error)).toBe(true)
    expect(error).toMatchObject({
      status: 'cancelled',
      reason: { type: 'limit_reached', limit: 'sync', key: 'acme' },
      message: expect.stringContaining('was cancelled: limit "sync" had no slot for key "acme".'),
    })
    expect((await second.explain())?.sentence).toContain('because limit "sync" had no slot for key "acme"')
    await clock.runUntil(first.result())
    expect(begun).toEqual([first.id])
    const third = await engine.run(workflow, { customer: 'acme' })
    expect(await clock.runUntil(third.result())).toMatchObject({ import: 'imported' })
  })

  it('a child that is cancelled so fails the step of its parent with the limit', async () => {
    const { clock, worker, sleep } = engines()
    const child = define('child', { version: 1, concurrency: { limit: 1, atLimit: 'skip' } }).step('work', {
      run: () => sleep(1_000),
    })
    const parent = define('parent', { version: 1 }).workflow('part', child, { retry: false })
    const engine = await worker({ workflows: [child, parent] })
    await engine.run(child)
    await clock.advance(10)

    const run = await engine.run(parent)

    await expect(clock.runUntil(run.result())).rejects.toThrow('it was cancelled: limit "child" had no slot')
  })
})

describe('atLimit', () => {
  const step = { run: () => 1 }

  it('can be given to a graph as data', async () => {
    const graph = defineGraph(
      'graph',
      {
        steps: { work: { handler: 'work', when: 'always', concurrency: { limit: 1, atLimit: 'skip' } } },
        dag: {},
      },
      { work: () => 1, always: () => true },
    )
    expect(graph.steps[0]!.limits).toMatchObject([{ name: 'graph.work', atLimit: 'skip' }])
  })

  it.each([
    [{ limit: 1, atLimit: 'drop' }, /concurrency\.atLimit is "drop", and must be one of .*wait.*skip/],
    [{ limit: 1, atLimit: null }, /concurrency\.atLimit is null/],
  ])('refuses %o', (concurrency, message) => {
    const options = { ...step, when: () => true, concurrency } as never
    expect(() => define('w', { version: 1 }).step('a', options)).toThrow(message)
    expect(() => define('w', { version: 1, concurrency } as never)).toThrow(message)
  })

  it('skip is refused for a step without when, for items and for rounds, which are never skipped one by one', () => {
    const concurrency = { limit: 1, atLimit: 'skip' } as const
    const base = define('w', { version: 1 })
    expect(() => base.step('a', { ...step, concurrency })).toThrow(
      /concurrency\.atLimit is 'skip', and the step has no when/,
    )
    expect(() => base.map('a', { over: () => [1], when: () => true, run: () => 1, concurrency })).toThrow(
      /Items of a map/,
    )
    expect(() =>
      base.repeat('a', { until: () => true, when: () => true, run: () => 1, concurrency }),
    ).toThrow(/rounds of a loop/)
  })

  it('is refused for a rate, which can only wait', () => {
    const rateLimit = { limit: 1, per: '1s', atLimit: 'skip' } as never
    expect(() => define('w', { version: 1 }).step('a', { ...step, rateLimit })).toThrow(
      /rateLimit\.atLimit is "skip", and a rate can only wait: remove atLimit/,
    )
  })
})

describe('engine.runs.list({ waitingFor })', () => {
  it('finds the runs that wait for a limit, and for one of its keys', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('sync', { version: 1, input: customer }).step('work', {
      concurrency: { name: 'partner', limit: 1, key: ({ input }) => input.customer },
      run: () => sleep(1_000),
    })
    const engine = await worker({ workflows: [workflow] })
    const runs = []
    for (const name of ['acme', 'acme', 'bell', 'bell']) {
      runs.push(await engine.run(workflow, { customer: name }))
      await clock.advance(10)
    }
    const found = async (waitingFor: { limit: string; key?: string }) =>
      (await engine.runs.list({ waitingFor })).map(({ id }) => id)

    expect(await found({ limit: 'partner' })).toEqual([runs[3]!.id, runs[1]!.id])
    expect(await found({ limit: 'partner', key: 'acme' })).toEqual([runs[1]!.id])
    expect(await found({ limit: 'other' })).toEqual([])
    expect((await engine.runs.count({ waitingFor: { limit: 'partner' } })).count).toBe(2)
    for (const run of runs) await clock.runUntil(run.result())
    expect(await found({ limit: 'partner' })).toEqual([])
  })

  it.each([
    [{ limit: '' }, /waitingFor.*an object whose limit is 0 characters/],
    [{ key: 'a' }, /waitingFor.*an object whose limit is undefined/],
    [{ limit: 'l', keys: 'a' }, /waitingFor.*an object with "keys"/],
    [{ limit: 'l', key: 'a'.repeat(257) }, /waitingFor.*an object whose key is/],
    ['partner', /waitingFor must be the name of a limit .*"partner"/],
  ])('refuses %j', async (waitingFor, message) => {
    const { engine } = engines()
    await expect(engine().runs.list({ waitingFor: waitingFor as never })).rejects.toThrow(message)
  })
})
