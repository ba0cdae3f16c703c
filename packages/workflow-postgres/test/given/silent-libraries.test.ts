import { type CallerTransaction, createEngine, define } from '@belay/workflow'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgres } from '../../src/index.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { swallowingProxy } from '../setup/swallowing-proxy.ts'
import { LIBRARIES, type Within } from './libraries.ts'

// Statements before the silence must be answered within it, on a busy machine too.
const QUERY_TIMEOUT_MS = 1_000
const fulfil = define('fulfil', { version: 1 }).waitForSignal('paid')

describe('a server that falls silent in a library’s transaction', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(servers[0]!.url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  function engineOn() {
    const engine = createEngine({
      adapter: postgres(database.url, { queryTimeoutMs: QUERY_TIMEOUT_MS }),
      workflows: [fulfil],
    })
    onTestFinished(() => engine.close())
    return engine
  }

  it.each([
    'postgres.js',
    'a reserved connection of postgres.js',
    'Kysely',
    'Knex',
    'Prisma',
    'an object with query()',
  ])('fails run(), and pause() under a savepoint, in time, and says what to do (%s)', async (name) => {
    const proxy = await swallowingProxy(new URL(database.url))
    const library = LIBRARIES[name]!(proxy.url)
    const engine = engineOn()
    const before = await engine.run(fulfil)
    // The transaction never ends: nothing tells the library that its server is gone.
    const { tx } = await new Promise<Within>((resolve, reject) => {
      library.begin((within) => new Promise<never>(() => resolve(within))).catch(reject)
    })
    // The first call learns about the transaction; the next one has a statement of its own under way.
    await engine.run(fulfil, undefined, { key: `${name} before`, tx })

    proxy.swallow()

    const failures = [
      await engine.run(fulfil, undefined, { key: `${name} silent`, tx }).catch((error: unknown) => error),
      // The library's earlier statement is still under way.
      await before.pause({ tx }).catch((error: unknown) => error),
    ]
    expect(String(failures[0])).toMatch(/in the transaction given as tx/)
    for (const failure of failures) expect(failure).toBeInstanceOf(StoreUnavailableError)
    expect((await engine.runs.list()).filter(({ key }) => key?.startsWith(name))).toEqual([])
  })

  it('does not wait for a query() that never answers, nor for a second time', async () => {
    const engine = engineOn()
    const asked: string[] = []
    const tx: CallerTransaction = {
      query(text: string) {
        asked.push(text)
        return new Promise<never>(() => {})
      },
    }

    await expect(engine.run(fulfil, undefined, { tx })).rejects.toThrow(
      /Roll the transaction back and discard its connection/,
    )
    await expect(engine.run(fulfil, undefined, { tx })).rejects.toBeInstanceOf(StoreUnavailableError)

    expect(asked).toEqual(['savepoint belay'])
  })
})
