import { createEngine, define, type Engine, PermanentError, unchecked } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const ENDED = ['failed', 'compensated'] as const
const LIVE = ['scheduled', 'running', 'waiting', 'paused', 'compensating'] as const

describe.each(servers)('retries of families on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())

  /** An engine with an adapter of its own, like a process. */
  function engineOf(workflows: Parameters<typeof createEngine>[0]['workflows'], adapter?: Adapter): Engine {
    const engine = createEngine({ adapter: adapter ?? postgres(database.url), workflows: workflows! })
    onTestFinished(() => engine.close())
    return engine
  }

  async function work(workflows: Parameters<typeof createEngine>[0]['workflows']) {
    const engine = engineOf(workflows)
    await engine.start()
    return engine
  }

  /** Retries every run of the workflows that has failed, until all have ended. */
  async function retryAll(engine: Engine, workflow: string[]) {
    const result = await engine.runs.retryMany({ workflow, status: [...ENDED] })
    await stand(engine, workflow)
    return result
  }

  async function stand(engine: Engine, workflow: string[]): Promise<void> {
    const isStill = async () =>
      expect(await engine.runs.list({ workflow, status: [...LIVE], limit: 1 })).toEqual([])
    await vi.waitFor(isStill, { timeout: 20_000, interval: 50 })
  }

  it('charge each round of a loop once, also the one that an earlier try had reached', async () => {
    const { failing, charges, child } = charging('loop-child')
    const parent = define('loop', { version: 1 }).repeat('rounds', child, {
      input: ({ round }) => ({ id: String(round) }),
      until: ({ round }) => round === 2,
      max: 2,
    })
    const engine = await work([parent])
    failing.add('2')
    const run = await engine.run(parent)
    await run.result().catch(() => {})
    failing.add('1')
    await run.retry()
    await run.result().catch(() => {})
    failing.clear()

    const result = await retryAll(engine, ['loop', 'loop-child'])

    await run.result()
    expect(Object.fromEntries(charges)).toEqual({ 1: 1, 2: 1 })
    expect(result).toMatchObject({ matched: 3, runIds: [run.id] })
    for (const { why } of result.refused) expect(why).toContain(`Retry run ${run.id} once it has ended`)
  })

  it('charge each item of a fan once, also one that was missing from the list of the last try', async () => {
    const { failing, charges, child } = charging('fan-child')
    let lines = ['a', 'b']
    const parent = define('fan', { version: 1 })
      .step('list', { run: () => lines, compensate: () => {} })
      .workflow('each', child, {
        dependsOn: ['list'],
        over: ({ deps }) => deps.list,
        input: ({ item }) => ({ id: item }),
        itemKey: (item) => item,
        concurrency: 1,
      })
    const engine = await work([parent])
    failing.add('b')
    const run = await engine.run(parent)
    await run.result().catch(() => {})
    lines = ['a']
    failing.add('a')
    await run.retry()
    await run.result().catch(() => {})
    lines = ['a', 'b']
    failing.clear()

    await retryAll(engine, ['fan', 'fan-child'])

    await run.result()
    expect(Object.fromEntries(charges)).toEqual({ a: 1, b: 1 })
  })

  it('charge once although the key of an earlier child looks like that of a later one', async () => {
    const { failing, charges, child: charge } = charging('keyed-child')
    const child = charge.waitForSignal('go', { dependsOn: ['book'] })
    const parent = define('keyed', { version: 1, input: unchecked<{ id: string }>() }).workflow(
      'ship',
      child,
      {
        key: ({ input }) => `ship:${input.id}`,
      },
    )
    const engine = await work([parent])
    failing.add('2')
    const run = await engine.run(parent, { id: '2' })
    await run.result().catch(() => {})
    failing.clear()
    await run.retry()
    const waits = await waitingChild(engine, run)

    await retryOld(engine, 'keyed-child')
    for (const { id } of await engine.runs.list({ workflow: 'keyed-child', status: [...LIVE] }))
      await engine.signal(id, 'go', 1)
    await stand(engine, ['keyed', 'keyed-child'])

    await run.result()
    expect((await engine.runs.get(waits))?.status).toBe('completed')
    expect(Object.fromEntries(charges)).toEqual({ 2: 1 })
  })

  async function waitingChild(engine: Engine, run: { readonly id: string }): Promise<string> {
    return vi.waitFor(async () => {
      const found = await engine.runs.list({ parentId: run.id, status: 'waiting' })
      expect(found).toHaveLength(1)
      return found[0]!.id
    }, 10_000)
  }

  /** Operators retry every child that has ended, by itself, and give it time to act. */
  async function retryOld(engine: Engine, workflow: string): Promise<void> {
    const { runIds } = await engine.runs.retryMany({ workflow: [workflow], status: [...ENDED] })
    for (const id of runIds)
      await vi.waitFor(async () => expect((await engine.runs.get(id))?.status).toBe('waiting'), 10_000)
  }

  it('charge once although an operator retries the child just as its parent looks at it', async () => {
    const { failing, charges, child: charge } = charging('raced-child')
    const child = charge
      .waitForSignal('go', { dependsOn: ['charge'] })
      .step('ship', { dependsOn: ['go'], retry: false, run: ({ input }) => failIf(failing.has(input.id)) })
    const parent = define('raced', { version: 1, input: unchecked<{ id: string }>() }).workflow(
      'ship',
      child,
      {},
    )
    const engine = await work([parent])
    const run = await engine.run(parent, { id: '1' })
    const childId = await waitingChild(engine, run)
    // The child ends while its parent is paused: the step of the parent has not looked.
    await run.pause()
    await engine.resume(childId)
    failing.add('1')
    await engine.signal(childId, 'go', 1)
    await vi.waitFor(async () => expect((await engine.runs.get(childId))?.status).toBe('compensated'), 10_000)
    let looks: Promise<unknown> | undefined
    const parentLooks = () => {
      looks ??= run.resume().then(() => run.result().catch(() => {}))
      return looks
    }
    const operator = engineOf([parent], lookingBetween(postgres(database.url), run.id, parentLooks))
    await operator.runs.list({ limit: 1 })

    const retried = await operator.runs
      .handle(childId)
      .retry()
      .catch((error: unknown) => error)
    await parentLooks()
    failing.clear()
    await run.retry()
    await engine.signal(await waitingChild(engine, run), 'go', 1)
    await run.result()
    await stand(engine, ['raced', 'raced-child'])

    expect(Object.fromEntries(charges)).toEqual({ 1: 1 })
    expect(retried).toMatchObject({ code: 'action_refused', runId: childId })
  })
})

/** A child that charges and then may fail; what is charged is counted by business key. */
function charging(name: string) {
  const failing = new Set<string>()
  const charges = new Map<string, number>()
  const count = (key: string, by: number) => void charges.set(key, (charges.get(key) ?? 0) + by)
  const child = define(name, { version: 1, input: unchecked<{ id: string }>() })
    .step('charge', {
      run: ({ input }) => count(input.id, 1),
      compensate: ({ input }) => count(input.id, -1),
    })
    .step('book', { dependsOn: ['charge'], run: ({ input }) => failIf(failing.has(input.id)) })
  return { failing, charges, child }
}

function failIf(fails: boolean): void {
  if (fails) throw new PermanentError('not yet')
}

/** A store in which something happens after every read of one run. */
function lookingBetween(store: Adapter, runId: string, happens: () => Promise<unknown>): Adapter {
  const after = async <Found>(ofRun: boolean, found: Promise<Found>) => {
    const result = await found
    if (ofRun) await happens()
    return result
  }
  return {
    ...store,
    readRun: (id, ...more) => after(id === runId, store.readRun(id, ...more)),
    findRun: (lookup, ...more) =>
      after('runId' in lookup && lookup.runId === runId, store.findRun(lookup, ...more)),
  }
}
