import { createEngine, define, StoreUnavailableError, unchecked } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { engines, statuses } from './bench-of-engines.ts'

describe('starting', () => {
  const workflow = define('keyed', { version: 1 }).step('a', { run: () => 1 })

  it('the same key and input return the first run; another input is refused', async () => {
    const { engine } = engines()
    const made = engine()

    const first = await made.run(workflow, { a: 1, b: 2 }, { key: 'order:1' })
    const second = await made.run(workflow, { b: 2, a: 1 }, { key: 'order:1' })

    expect(first.created).toBe(true)
    expect(second).toMatchObject({ id: first.id, created: false })
    await expect(made.run(workflow, { a: 2 }, { key: 'order:1' })).rejects.toMatchObject({
      code: 'key_conflict',
      runId: first.id,
    })
    expect(await made.runs.list()).toHaveLength(1)
  })

  it('refuses options that stand where the input belongs, unless they must be the input', async () => {
    const { engine } = engines()
    const made = engine()
    const keyed = define('by-key', { version: 1, input: unchecked<{ key: string }>() }).step('a', {
      run: () => 1,
    })

    await expect(made.run(workflow, { key: 'order:1', delay: '1h' })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('run(workflow, undefined, { key, delay })'),
    })
    expect(await made.runs.list()).toEqual([])

    const runs = [
      await made.run(workflow, { key: 'order:1' }, {}),
      await made.run(workflow, { key: 'order:1', order: 1 }),
      await made.run(workflow, {}),
      await made.run(keyed, { key: 'order:1' }),
    ]
    expect(runs.map(({ created }) => created)).toEqual([true, true, true, true])
  })

  it('with the same key, the caller’s inputs are compared, whatever the schema makes of them', async () => {
    const { engine } = engines()
    const made = engine()
    const computed = define('computed', {
      version: 1,
      input: z.object({ order: z.string().toLowerCase(), id: z.string().default(() => crypto.randomUUID()) }),
    }).step('a', { run: () => 1 })

    const first = await made.run(computed, { order: 'A-1' }, { key: 'k' })
    const again = await made.run(computed, { order: 'A-1' }, { key: 'k' })
    const { input } = await first.status()
    const stored = await made.run(computed, input as { order: string }, { key: 'k' })
    const many = await made.runMany(computed, [{ input: { order: 'A-1' }, key: 'k' }])

    expect([again, stored, ...many]).toMatchObject(Array(3).fill({ id: first.id, created: false }))
    await expect(made.run(computed, { order: 'A-2' }, { key: 'k' })).rejects.toMatchObject({
      code: 'key_conflict',
    })
    expect(await made.runs.list()).toHaveLength(1)
  })

  it('a key that finds a run of an earlier version says so, and does not return its outputs as those of this version', async () => {
    const { clock, engine, worker } = engines()
    const newer = define('keyed', { version: 2 }).step('z', { run: () => 26 })
    const older = await engine().run(workflow, { a: 1 }, { key: 'k' })
    const worked = await worker({ workflows: [newer, workflow] })

    const found = await worked.run(newer, { a: 1 }, { key: 'k' })
    const [among] = await worked.runMany(newer, [{ input: { a: 1 }, key: 'k' }])
    const fresh = await worked.run(newer, { a: 1 }, { key: 'other' })

    expect([older, found, among, fresh].map((run) => [run!.version, run!.created])).toEqual([
      [1, true],
      [1, false],
      [1, false],
      [2, true],
    ])
    await expect(found.result()).rejects.toMatchObject({
      code: 'other_version',
      runId: older.id,
      message: expect.stringMatching(/follows version 1 .* not typed by version 2/),
    })
    expect(await clock.runUntil(worked.runs.handle(found.id).result())).toEqual({ a: 1 })
    expect(await clock.runUntil(fresh.result())).toEqual({ z: 26 })
  })

  it.each(['', 'x'.repeat(513), 'k\0', 'k\ud800', '\udfffk'])('the key %j is refused', async (key) => {
    const { engine } = engines()
    const made = engine()

    await expect(made.run(workflow, 1, { key })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/key must be a string of 1 to 512 characters/),
    })
    expect(await made.runs.list()).toEqual([])
  })

  it('refuses a changed shape under the same version, with the difference', async () => {
    const { engine } = engines()
    await engine().run(workflow, undefined)
    const changed = define('keyed', { version: 1 })
      .step('a', { run: () => 1 })
      .step('b', { dependsOn: ['a'], run: () => 1 })

    await expect(engine({ workflows: [changed] }).start()).rejects.toMatchObject({
      code: 'definition_changed',
      message: expect.stringMatching(/needs a new version: give version 2[\s\S]*b/),
    })
  })

  it('live runs continue with the version they started with when a newer one is registered', async () => {
    const { clock, engine, worker } = engines()
    const run = await engine().run(workflow, undefined)
    const newer = define('keyed', { version: 2 }).step('z', { run: () => 26 })

    const worked = await worker({ workflows: [newer, workflow] })
    const other = await worked.run(newer, undefined)

    expect(await clock.runUntil(run.result())).toEqual({ a: 1 })
    expect(await clock.runUntil(other.result())).toEqual({ z: 26 })
  })

  it('a run whose version no worker has is left alone, not failed', async () => {
    const { clock, engine, worker } = engines()
    const run = await engine().run(workflow, undefined)
    await worker({ workflows: [define('keyed', { version: 2 }).step('z', { run: () => 26 })] })

    await clock.advance('10m')

    expect(statuses(await run.status())).toEqual({ a: 'ready' })
  })

  it.each([
    [{ concurrency: 0 }, /concurrency must be a whole number from 1 to 10000; got 0/],
    [{ tick: 'soon' }, /tick must be a duration.*; got "soon"/],
    [{ lease: '1ms' }, /lease must be a duration from 100ms to 1d/],
    [{ workflow: [] }, /no option "workflow"/],
    [{ workflows: [{}] }, /definitions made by define/],
    [{ adapter: 'postgres://' }, /adapter must be an adapter/],
  ])('refuses the options %j', (options, message) => {
    const { adapter } = engines()
    expect(() => createEngine({ adapter, ...options } as never)).toThrow(message)
  })
})

describe('starting many', () => {
  const workflow = define('many', { version: 1, input: z.object({ n: z.number() }) }).step('a', {
    run: ({ input }) => input.n * 2,
  })

  it('runMany() returns handles in order, and each run gets its own input', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })

    const runs = await engine.runMany(
      workflow,
      Array.from({ length: 1_500 }, (_, n) => ({ input: { n } })),
    )
    const results = await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(results).toEqual(Array.from({ length: 1_500 }, (_, n) => ({ a: n * 2 })))
  })

  it('a thousand runs, or single starts at the same moment, are one call to the store', async () => {
    const { adapter, engine } = engines()
    const made = engine()
    const startRuns = vi.spyOn(adapter, 'startRuns')

    await made.runMany(
      workflow,
      Array.from({ length: 1_000 }, (_, n) => ({ input: { n } })),
    )
    await Promise.all([1, 2, 3].map((n) => made.run(workflow, { n })))

    expect(startRuns.mock.calls.map(([runs]) => runs.length)).toEqual([1_000, 3])
  })

  it('one invalid input prevents all starts', async () => {
    const { engine } = engines()
    const made = engine()

    const starting = made.runMany(workflow, [{ input: { n: 1 } }, { input: { n: 'two' as never } }])

    await expect(starting).rejects.toMatchObject({ code: 'invalid_input' })
    expect(await made.runs.list()).toEqual([])
  })

  it('a key given twice in one call is one run; with another input it is refused, and the others start', async () => {
    const { engine } = engines()
    const made = engine()

    const [first, again] = await made.runMany(workflow, [
      { key: 'k', input: { n: 1 } },
      { key: 'k', input: { n: 1 } },
    ])
    const starting = made.runMany(workflow, [
      { key: 'k', input: { n: 2 } },
      { key: 'other', input: { n: 3 } },
    ])

    expect(again).toMatchObject({ id: first!.id, created: false })
    await expect(starting).rejects.toMatchObject({ code: 'key_conflict', runId: first!.id })
    expect(await made.runs.list({ key: 'other' })).toHaveLength(1)
  })
})

describe('a start whose answer is lost', () => {
  const workflow = define('lost', { version: 1 }).step('a', { run: () => 1 })

  it('is repeated, and is one run', async () => {
    const { adapter, clock, engine } = engines()
    const startRuns = adapter.startRuns.bind(adapter)
    vi.spyOn(adapter, 'startRuns').mockImplementationOnce(async (runs) => {
      await startRuns(runs)
      throw new StoreUnavailableError('the connection broke')
    })
    const made = engine()

    const run = await clock.runUntil(made.run(workflow))

    expect(run.created).toBe(true)
    expect((await made.runs.list()).map(({ id }) => id)).toEqual([run.id])
  })

  it('is reported to the caller if the store stays away', async () => {
    const { adapter, clock, engine } = engines()
    const told: string[] = []
    vi.spyOn(adapter, 'startRuns').mockRejectedValue(new StoreUnavailableError('gone'))
    const made = engine()
    made.on('store.unavailable', ({ during }) => told.push(during))

    await expect(clock.runUntil(made.run(workflow))).rejects.toMatchObject({ code: 'store_unavailable' })

    expect(told).toEqual(['starting runs'])
  })
})
