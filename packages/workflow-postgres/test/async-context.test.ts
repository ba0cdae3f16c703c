import { AsyncLocalStorage } from 'node:async_hooks'
import { createPglite } from '@belay/postgres-server'
import { memory } from '@belay/testing'
import { createEngine, define, type Engine, type Logger, PermanentError } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { realClock } from '../../testing/src/clock/real-clock.ts'
import { postgres } from '../src/index.ts'
import { pglite } from '../src/pglite.ts'
import { createDatabase, servers } from './setup/database.ts'

const TENANTS = ['ann', 'bob', 'cyd']
const RUNS_EACH = 20
const ENGINE = 'start()'

interface Store {
  readonly adapter: () => Adapter
  close(): Promise<unknown>
}

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memory', async () => ({ adapter: () => memory({ clock: realClock }), close: async () => {} })],
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

/** What each function saw: the name of the function, and the stores that were not the engine's. */
class Seen {
  readonly #tenant = new AsyncLocalStorage<string>()
  readonly foreign = new Map<string, Set<string | undefined>>()
  readonly told = new Map<string, number>()

  /** Notes what this function sees. */
  note(what: string): void {
    const store = this.#tenant.getStore()
    this.told.set(what, (this.told.get(what) ?? 0) + 1)
    if (store !== ENGINE) this.foreign.set(what, (this.foreign.get(what) ?? new Set()).add(store))
  }

  json(): number {
    this.note('toJSON')
    return 1
  }

  /** Notes it, and leaves something behind for whatever would run in its context. */
  spoil(what: string): void {
    this.note(what)
    this.#tenant.enterWith(`left by ${what}`)
  }

  as<Result>(tenant: string, work: () => Result): Result {
    return this.#tenant.run(tenant, work)
  }
}

function workflowOf(seen: Seen) {
  const input = (what: string) => {
    const validate = (value: unknown) => {
      seen.note(what)
      return { value }
    }
    return { input: { '~standard': { version: 1 as const, vendor: 'test', validate } } as never }
  }
  const child = define('child', { version: 1, ...input('schema of a child') }).step('work', { run: () => 1 })
  const parent = define('tenant', { version: 1, retry: { attempts: 2, initial: '10ms' } })
    .step('first', {
      when: () => {
        seen.spoil('when')
        return true
      },
      run: async () => {
        seen.spoil('handler')
        await null
      },
      compensate: () => seen.spoil('undo'),
    })
    .step('json', {
      dependsOn: ['first'],
      run: async (): Promise<number> => ({ toJSON: () => seen.json() }) as never,
    })
    .map('items', {
      dependsOn: ['first'],
      over: () => {
        seen.spoil('over')
        return [1, 2]
      },
      run: async ({ log }) => {
        seen.note('item')
        log.info('of a handler')
        await new Promise((resolve) => setImmediate(resolve))
        seen.spoil('item, later')
      },
    })
    .repeat('loop', {
      dependsOn: ['first'],
      run: () => seen.note('round'),
      until: async ({ round }) => {
        seen.spoil('until')
        return round === 2
      },
    })
    .workflow('child', child, { dependsOn: ['json'], input: () => seen.note('input') as never })
    .step('fails', {
      dependsOn: ['items', 'loop', 'child'],
      run: ({ attempt }) => {
        seen.spoil('failing handler')
        throw attempt === 1 ? new Error('once more') : new PermanentError('for good')
      },
    })
  return { parent, child }
}

function loggerOf(seen: Seen): Logger {
  const tell = (message: string) =>
    message === 'of a handler' ? seen.note('log of a handler') : seen.spoil('log')
  return { debug: tell, info: tell, warn: tell, error: tell }
}

describe.each(STORES)('async contexts on %s', (_, open) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  it('are that of start() for all that the engine calls, and no function sees what another one left', async () => {
    const seen = new Seen()
    const { parent, child } = workflowOf(seen)
    const engine: Engine = createEngine({
      adapter: store.adapter(),
      workflows: [parent, child],
      concurrency: 5,
      logger: loggerOf(seen),
    })
    onTestFinished(() => engine.close())
    for (const event of ['run.started', 'step.completed', 'step.retrying', 'run.ended'] as const)
      engine.on(event, () => seen.spoil(`listener of ${event}`))
    await seen.as(ENGINE, () => engine.start())

    const runs = await Promise.all(
      Array.from({ length: RUNS_EACH * TENANTS.length }, (_, n) =>
        seen.as(TENANTS[n % TENANTS.length]!, () => engine.run(parent)),
      ),
    )
    await Promise.all(
      runs.map((run, n) => seen.as(TENANTS[n % TENANTS.length]!, () => run.result().catch(() => {}))),
    )

    expect(Object.fromEntries(seen.foreign)).toEqual({})
    const all = RUNS_EACH * TENANTS.length
    for (const what of ['when', 'handler', 'over', 'toJSON', 'input', 'schema of a child', 'undo'])
      expect(seen.told.get(what), what).toBe(all)
    expect(seen.told.get('until')).toBe(2 * all)
    expect(seen.told.get('log of a handler')).toBe(2 * all)
    expect(seen.told.get('log')).toBeGreaterThan(all)
    expect(seen.told.get('listener of run.started')).toBe(2 * all)
  })

  it('reach the listeners of a handler’s signal from start() too, and not from the caller that cancels', async () => {
    const seen = new Seen()
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const stuck = define('stuck', { version: 1 }).step('s', {
      run: ({ signal }) => {
        begin()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            seen.spoil('abort')
            reject(signal.reason)
          })
        })
      },
    })
    const engine = createEngine({ adapter: store.adapter(), workflows: [stuck] })
    onTestFinished(() => engine.close())
    await seen.as(ENGINE, () => engine.start())
    const run = await seen.as('ann', () => engine.run(stuck))
    await begun

    await seen.as('bob', async () => {
      await run.cancel()
      await run.result().catch(() => {})
    })

    expect(seen.told.get('abort')).toBe(1)
    expect(Object.fromEntries(seen.foreign)).toEqual({})
  })
})

describe('without start()', () => {
  it('what an engine calls for a caller runs in the caller’s own context', async () => {
    const seen = new Seen()
    const { child } = workflowOf(seen)
    const engine = createEngine({ adapter: memory({ clock: realClock }) })
    onTestFinished(() => engine.close())
    engine.on('run.started', () => seen.note('listener'))

    await seen.as('ann', () => engine.run(child, 1 as never))

    expect(Object.fromEntries(seen.foreign)).toEqual({
      'schema of a child': new Set(['ann']),
      listener: new Set(['ann']),
    })
  })
})
