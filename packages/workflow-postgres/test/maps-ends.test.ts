import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const SLOTS = 1_000

/** A pool that notes, for each named statement, the longest list among its arguments and the characters of all of them. */
function recordingPool(connectionString: string) {
  const longest = new Map<string, { elements: number; characters: number }>()
  class Recording extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: passes on whatever pg's overloads take.
    override query(...given: any[]): any {
      const { name, values } = given[0] as { name?: string; values?: readonly unknown[] }
      if (name !== undefined) {
        const texts = (values ?? []).map(String)
        const found = longest.get(nameOf(name)) ?? { elements: 0, characters: 0 }
        longest.set(nameOf(name), {
          elements: Math.max(found.elements, ...texts.map((text) => text.split(',').length)),
          characters: Math.max(found.characters, texts.join('').length),
        })
      }
      return super.query(...(given as [string]))
    }
  }
  return { pool: new pg.Pool({ connectionString, max: 10, Client: Recording }), longest }
}

/** A statement's name in its file: `belay_finish_items_4f2a` is `finish_items`. */
function nameOf(name: string): string {
  return name.replace(/^belay_|_[^_]*$/g, '')
}

describe.each(servers)('the ends of maps on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())

  /** Engines with adapters of their own, like processes. */
  async function work(
    workers: number,
    workflows: NonNullable<Parameters<typeof createEngine>[0]['workflows']>,
  ) {
    const engines = Array.from({ length: workers }, () =>
      createEngine({ adapter: postgres(database.url), workflows, concurrency: 1_000 }),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    await Promise.all(engines.map((engine) => engine.start()))
    return engines[0]!
  }

  it('collect failures over several workers, within the limit', async () => {
    const workflow = define('collected', { version: 1, input: unchecked<number>(), retry: false })
      .map('send', {
        over: ({ input }) => Array.from({ length: input }, (_, n) => n),
        concurrency: 7,
        onFailure: 'collect',
        minSuccess: '90%',
        run: ({ item }) => {
          if (item % 10 === 3) throw new PermanentError(`no ${item}`)
          return item
        },
      })
      .step('count', {
        dependsOn: ['send'],
        run: ({ deps }) => deps.send.filter(({ status }) => status === 'completed').length,
      })
    const engine = await work(4, [workflow])
    const { send, count } = await (await engine.run(workflow, 200)).result()
    expect(count).toBe(180)
    expect(send.slice(2, 4)).toEqual([
      { status: 'completed', output: 2 },
      { status: 'failed', error: expect.objectContaining({ message: 'no 3' }) },
    ])
  })

  it('undo all items at once, also when the join never ran', async () => {
    const undone: (readonly string[])[] = []
    const workflow = define('together', { version: 1, retry: false }).map('write', {
      over: () => Array.from({ length: 50 }, (_, n) => `file-${n}`),
      itemKey: (name) => name,
      concurrency: 5,
      run: ({ item, index }) => {
        if (index === 40) throw new PermanentError('disk full')
        return `${item}!`
      },
      compensateAll: ({ items }) =>
        void undone.push(items.map(({ itemKey, output }) => `${itemKey} ${output}`)),
    })
    const engine = await work(3, [workflow])
    const run = await engine.run(workflow)
    await expect(run.result()).rejects.toThrow('disk full')

    const { status, steps } = (await engine.runs.get(run.id))!
    const completed = steps.filter((step) => step.itemKey !== undefined && step.status === 'completed')
    expect(status).toBe('compensated')
    expect(completed.length).toBeGreaterThanOrEqual(36)
    expect(undone).toEqual([completed.map(({ itemKey, output }) => `${itemKey} ${output}`)])
  })

  it('skip the items of a map that ran, was undone, and is skipped when its run is retried', async () => {
    let asked = 0
    let refuses = true
    const workflow = define('skipped', { version: 1, retry: false })
      .step('ask', { run: () => ++asked === 1, compensate: () => {} })
      .map('each', {
        dependsOn: ['ask'],
        when: ({ deps }) => deps.ask,
        over: () => [1, 2, 3],
        run: ({ item }) => item,
        compensate: () => {},
      })
      .step('last', {
        dependsOn: ['each'],
        onSkipped: 'run',
        run: () => {
          if (refuses) throw new PermanentError('refused')
        },
      })
    const engine = await work(1, [workflow])
    const run = await engine.run(workflow)
    await expect(run.result()).rejects.toThrow('refused')
    refuses = false
    await run.retry()
    expect(await run.result()).toMatchObject({ ask: false, each: undefined })

    const { steps } = (await engine.runs.get(run.id))!
    const items = steps.filter(({ itemKey }) => itemKey !== undefined)
    const skipped = { status: 'skipped', skip: { because: 'when' } }
    expect(items).toMatchObject([skipped, skipped, skipped])
    expect(steps.find(({ name }) => name === 'each')).toMatchObject({ status: 'skipped' })
  })

  it('undo 9,998 items when the 9,999th fails', async () => {
    let [completed, undone] = [0, 0]
    let allButOne: (() => void) | undefined
    const others = new Promise<void>((resolve) => {
      allButOne = resolve
    })
    const workflow = define('large', { version: 1, retry: false }).map('write', {
      over: () => Array.from({ length: 9_999 }, (_, n) => n),
      run: async ({ index }) => {
        if (index === 9_998) {
          await others
          throw new PermanentError('the last one')
        }
        completed += 1
        if (completed === 9_998) allButOne?.()
        return index
      },
      compensate: () => {
        undone += 1
      },
    })
    const { pool, longest } = recordingPool(database.url)
    const engine = createEngine({ adapter: postgres(pool), workflows: [workflow], concurrency: SLOTS })
    onTestFinished(async () => {
      await engine.close()
      await pool.end()
    })
    await engine.start()
    const run = await engine.run(workflow)
    await expect(run.result()).rejects.toThrow(/the last one\. Undone: 9998 of 9998\./)
    expect(undone).toBe(9_998)

    // Two statements name all items, each once for the run: as few characters as possible. No other one names more than the worker
    // performs and reads in advance: twice as many as it has slots, and once more for undos.
    const long = [...longest].filter(([, { elements }]) => elements > 3 * SLOTS).map(([name]) => name)
    expect(long.toSorted()).toEqual(['begin_undos', 'expand_maps'])
    expect(longest.get('finish_items')!.elements).toBeGreaterThan(1)
    expect(Math.max(...[...longest.values()].map(({ characters }) => characters))).toBeLessThan(200_000)
  })
})
