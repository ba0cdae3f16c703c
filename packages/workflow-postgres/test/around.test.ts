import { AsyncLocalStorage } from 'node:async_hooks'
import { createPglite } from '@belay/postgres-server'
import {
  type Around,
  createEngine,
  define,
  type Engine,
  type EngineOptions,
  type LogFields,
  PermanentError,
  type WorkflowDefinition,
} from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres, postgresTransaction } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, servers } from './setup/database.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

interface Store {
  readonly adapter: () => Adapter
  close(): Promise<unknown>
}

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  [
    'PGlite',
    async () => {
      const db = await createPglite()
      return { adapter: () => pglite(db), close: () => db.close() }
    },
  ],
  ...servers.map(
    ({ name, url }) =>
      [
        name,
        async () => {
          const database = await createDatabase(url)
          await postgres(database.pool).migrate()
          return { adapter: () => postgres(database.url), close: () => database.drop() }
        },
      ] as const,
  ),
]

/** A log that keeps its errors. */
function errorLog() {
  const errors: LogFields[] = []
  const nothing = () => {}
  const error = (message: string, fields?: LogFields) => void errors.push({ message, ...fields })
  return { errors, logger: { debug: nothing, info: nothing, warn: nothing, error } }
}

/** Steps of every kind that hooks surround, one of which is retried, and all of which are undone. */
function bookingOf(seen: string[], span: AsyncLocalStorage<string>) {
  const note = (what: string) => seen.push(`${what} in ${span.getStore()}`)
  return define('booking', { version: 2, retry: { attempts: 2, initial: '10ms' } })
    .step('a', {
      run: async ({ attempt }) => {
        await null
        note(`a ${attempt}`)
        if (attempt === 1) throw new Error('once more')
      },
      compensate: () => void note('undo of a'),
    })
    .step('b', {
      dependsOn: ['a'],
      transaction: postgresTransaction(),
      run: async ({ tx }) => {
        await tx.client.query('select 1')
        note('b')
      },
      compensate: {
        transaction: postgresTransaction(),
        run: async ({ tx }) => {
          await tx.client.query('select 1')
          note('undo of b')
        },
      },
    })
    .map('items', {
      dependsOn: ['b'],
      over: () => ['x'],
      itemKey: (item) => item,
      run: () => void note('item'),
    })
    .repeat('loop', { dependsOn: ['items'], run: () => void note('round'), until: () => true })
    .step('fails', {
      dependsOn: ['loop'],
      run: () => {
        throw new PermanentError('for good')
      },
    })
}

describe.each(STORES)('hooks around handlers on %s', (_, open) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  async function started(workflow: WorkflowDefinition, options: Partial<EngineOptions>): Promise<Engine> {
    const engine = createEngine({
      ...{ adapter: store.adapter(), workflows: [workflow], tick: '20ms', logger: false },
      ...options,
    })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return engine
  }

  it('give each attempt their async context, forward and in the undo, in transactions, items and rounds', async () => {
    const seen: string[] = []
    const ends: string[] = []
    const traces = new Set<string | undefined>()
    const span = new AsyncLocalStorage<string>()
    const workflow = bookingOf(seen, span)
    const around: Around = async (attempt, next) => {
      traces.add(await attempt.traceparent())
      const { step, direction } = attempt
      const name = `${direction} ${step} ${attempt.attempt}`
      await span.run(name, next).then(
        () => ends.push(`${name} ended`),
        (error: unknown) => ends.push(`${name}: ${(error as Error).message}`),
      )
    }
    const engine = await started(workflow, { around: [around], traceparent: () => TRACE })

    const run = await engine.run(workflow)
    const failed = await run.result().catch((error: unknown) => String(error))

    expect(failed).toContain('for good')
    expect((await run.status()).status).toBe('compensated')
    expect(seen).toEqual([
      'a 1 in forward a 1',
      'a 2 in forward a 2',
      'b in forward b 1',
      'item in forward items[x] 1',
      'round in forward loop[1] 1',
      'undo of b in undo b 1',
      'undo of a in undo a 1',
    ])
    expect(ends).toEqual([
      'forward a 1: once more',
      'forward a 2 ended',
      'forward b 1 ended',
      'forward items[x] 1 ended',
      'forward loop[1] 1 ended',
      'forward fails 1: for good',
      'undo b 1 ended',
      'undo a 1 ended',
    ])
    expect([...traces]).toEqual([TRACE])
  })

  it('change no outcome, whatever they do', async () => {
    const { errors, logger } = errorLog()
    let calls = 0
    const workflow = define('stubborn', { version: 1 })
      .step('a', { run: () => ++calls })
      .step('b', { dependsOn: ['a'], transaction: postgresTransaction(), run: async () => ++calls })
    const around: readonly Around[] = [
      function throwing() {
        throw new Error('early')
      },
      async function twice(_, next) {
        void next()
        await next()
        throw new Error('late')
      },
      function forgets() {},
      function hangs(_, next) {
        void next()
        return new Promise(() => {})
      },
    ]
    const engine = await started(workflow, {
      around,
      logger,
    })

    const run = await engine.run(workflow)

    expect(await run.result()).toEqual({ a: 1, b: 2 })
    const hooks = ['around[0] (throwing)', 'around[1] (twice)', 'around[2] (forgets)']
    expect(new Set(errors.map(({ hook }) => hook))).toEqual(new Set(hooks))
  })

  it('that hang before next() delay a handler by a second, also in a transaction', async () => {
    const workflow = define('hung', { version: 1 }).step('a', {
      transaction: postgresTransaction(),
      run: async ({ tx }) => {
        await tx.client.query('select 1')
        return 1
      },
    })
    const engine = await started(workflow, { around: [() => new Promise(() => {})] })

    const run = await engine.run(workflow)

    expect(await run.result()).toEqual({ a: 1 })
  })

  it('read the trace context of a run that another process started, also in a transactional step', async () => {
    const workflow = define('elsewhere', { version: 1 }).step('a', {
      transaction: postgresTransaction(),
      run: async ({ tx }) => void (await tx.client.query('select 1')),
    })
    const starter = createEngine({ adapter: store.adapter(), logger: false })
    onTestFinished(() => starter.close())
    const run = await starter.run(workflow, undefined, { key: 'event', traceparent: TRACE })
    const again = await starter.run(workflow, undefined, { key: 'event' })
    const traces: unknown[] = []
    const { errors, logger } = errorLog()

    await started(workflow, {
      logger,
      around: [
        async (attempt, next) => {
          traces.push(await attempt.traceparent())
          await next()
          traces.push(await attempt.traceparent())
        },
      ],
    })
    await run.result()

    expect(again.id).toBe(run.id)
    expect(traces).toEqual([TRACE, TRACE])
    // No hook waited for the session that its own transaction held.
    expect(errors).toEqual([])
  })
})
