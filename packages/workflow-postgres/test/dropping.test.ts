import {
  createEngine,
  define,
  type Engine,
  type Logger,
  PermanentError,
  RetryLaterError,
  type WorkflowDefinition,
} from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgres } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, servers } from './setup/database.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const dev = { dev: true, logger: silent, tick: 20 } as const

interface Store {
  /** An adapter as another process would have it. */
  adapter(): Adapter
  close(): Promise<void>
}

async function inPostgres(url: string): Promise<Store> {
  const database = await createDatabase(url)
  return { adapter: () => postgres(database.url, { schema: 'dev' }), close: () => database.drop() }
}

async function inPglite(): Promise<Store> {
  const db = await PGlite.create()
  return { adapter: () => pglite(db, { schema: 'dev' }), close: () => db.close() }
}

const stores = [
  ...servers.map(({ name, url }) => ({ name, open: () => inPostgres(url) })),
  { name: 'PGlite', open: inPglite },
]

describe.each(stores)('development on $name', ({ open }) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  async function worker(...workflows: WorkflowDefinition[]): Promise<Engine> {
    const engine = createEngine({ adapter: store.adapter(), workflows, ...dev })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  it('a changed workflow runs under a version of its own, and runs of the old shape can be dropped', async () => {
    const undone: string[] = []
    const before = trip('trip', undone)
    const after = before.step('rest', { dependsOn: ['fly'], run: () => 'rested' })
    const first = await worker(before)
    const runs = {
      waiting: await first.run(before, 'lucky', { key: 'a' }),
      paused: await first.run(before, 'lucky'),
      parked: await first.run(before, 'unlucky'),
      undoing: await first.run(before, 'hopeful'),
      draining: await first.run(before, 'lucky'),
    }
    for (const run of Object.values(runs)) await reached(run.id, first, 'waiting')
    await runs.paused.pause()
    await runs.parked.cancel()
    await reached(runs.parked.id, first, 'compensation_failed')
    await runs.undoing.cancel()
    await reached(runs.undoing.id, first, 'compensating', 'compensating')
    // Its undo is tried again much later; the first attempt has begun.
    await vi.waitFor(() => expect(undone).toContain('hopeful'), 10_000)
    await first.stop()
    const second = await worker(after)
    const derived = await second.run(after, 'lucky')
    await second.runs.handle(runs.draining.id).cancel()
    const { findings } = await second.doctor()

    const dropped = await second.runs.dropForgotten()

    expect(findings).toMatchObject([
      { type: 'version_without_worker', workflow: 'trip', version: 1, runs: 5 },
      { type: 'parked_runs' },
    ])
    expect(new Set(dropped.runIds)).toEqual(new Set(Object.values(runs).map(({ id }) => id)))
    expect(dropped).toMatchObject({ refused: [], more: false })
    for (const { id } of Object.values(runs)) expect((await second.runs.get(id))?.status).toBe('cancelled')
    expect(undone).toEqual(['unlucky', 'hopeful'])
    expect((await second.doctor()).findings).toEqual([])
    const again = await second.run(after, 'lucky', { key: 'a' })
    expect(again.version).toBe(derived.version)
    for (const run of [derived, again]) {
      await run.signal('paid', 1)
      expect(await run.result()).toMatchObject({ rest: 'rested' })
    }
  })

  it('an engine that is closed before the next one of its process starts leaves its steps to the new code', async () => {
    let begun = () => {}
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    const hangs = define('reload', { version: 1 }).step('work', {
      run: () => {
        begun()
        return new Promise<string>(() => {})
      },
    })
    const reloaded = define('reload', { version: 1 }).step('work', { run: () => 'by the new code' })
    const old = await worker(hangs)
    const { id } = await old.run(hangs)
    await begins

    await old.close({ timeout: 0 })
    const next = await worker(reloaded)

    const run = next.runs.handle(reloaded, id)
    expect(await run.result()).toEqual({ work: 'by the new code' })
    expect((await run.status()).steps[0]).toMatchObject({ attempts: 2 })
  })

  it('a run with items of a map is dropped with them, and its parent is told', async () => {
    const never = () => new Promise<never>(() => {})
    const fill = define('fill', { version: 1 })
      .map('boxes', { over: () => [1, 2, 3, 4], concurrency: 2, run: never, compensate: () => {} })
      .step('ship', { dependsOn: ['boxes'], run: () => 1 })
    const order = define('load', { version: 1 }).workflow('fill', fill, {})
    const first = await worker(order)
    const parent = await first.run(order)
    await reached(parent.id, first, 'waiting')
    await first.stop({ timeout: 0 })
    const emptied = define('fill', { version: 1 }).step('nothing', { run: () => 1 })
    const second = await worker(define('load', { version: 1 }).workflow('fill', emptied, {}))

    const dropped = await second.runs.dropForgotten()

    const [child] = await second.runs.list({ parentId: parent.id })
    expect(dropped.runIds).toEqual([child?.id])
    expect(child?.status).toBe('cancelled')
    await expect(second.runs.handle(parent.id).result()).rejects.toMatchObject({ code: 'run_failed' })
    expect(await second.runs.dropForgotten()).toEqual({ runIds: [], refused: [], more: false })
  })
})

/** The undo of `book` fails for good for the unlucky, and is tried again in an hour for the hopeful. */
function trip(name: string, undone: string[]) {
  return define(name, { version: 1 })
    .step('book', {
      run: () => 'booked',
      compensate: ({ input }) => {
        undone.push(String(input))
        throw input === 'hopeful' ? new RetryLaterError({ after: '1h' }) : new PermanentError('no refund')
      },
    })
    .step('insure', { dependsOn: ['book'], run: () => 'insured' })
    .waitForSignal('paid', { dependsOn: ['insure'] })
    .step('fly', { dependsOn: ['paid'], run: () => 'flown' })
}

/** Waits until a run has a status, and its first step one too: it is read again at each change. */
async function reached(runId: string, engine: Engine, status: string, ofFirst?: string): Promise<void> {
  const handle = engine.runs.handle(runId)
  for await (const _ of handle.watch()) {
    const run = await handle.status()
    if (run.status === status && (ofFirst === undefined || run.steps[0]?.status === ofFirst)) return
  }
}
