import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const WORKERS = 4
const LIMIT = 3

describe.each(servers)('maps of several workers on $name', ({ url }) => {
  let database: TestDatabase
  let handlers: pg.Pool
  beforeAll(async () => {
    database = await createDatabase(url)
    handlers = new pg.Pool({ connectionString: database.url, max: 10 })
    await handlers.query('create table spans (item text, began timestamptz, ended timestamptz)')
    await handlers.query('create table files (item text primary key)')
    await postgres(database.pool).migrate()
  })
  afterAll(async () => {
    await handlers.end()
    await database.drop()
  })

  /** Engines with adapters of their own, like processes. */
  async function work(workflow: Parameters<typeof createEngine>[0]['workflows']) {
    const engines = Array.from({ length: WORKERS }, () =>
      createEngine({ adapter: postgres(database.url), workflows: workflow! }),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    await Promise.all(engines.map((engine) => engine.start()))
    return engines[0]!
  }

  it('never begin more items than the limit, by the clock of the database, and use the whole of it', async () => {
    const workflow = define('limited', { version: 1, input: unchecked<number>() }).map('each', {
      over: ({ input }) => Array.from({ length: input }, (_, n) => n),
      concurrency: LIMIT,
      run: async ({ item }) => {
        await handlers.query('insert into spans values ($1, clock_timestamp(), null)', [String(item)])
        await handlers.query('select pg_sleep(0.005)')
        await handlers.query('update spans set ended = clock_timestamp() where item = $1', [String(item)])
        return item
      },
    })
    const engine = await work([workflow])
    const run = await engine.run(workflow, 60)
    expect(await run.result()).toEqual({ each: Array.from({ length: 60 }, (_, n) => n) })

    const { rows } = await handlers.query(`
      select max(under_way)::int as most from (
        select (select count(*) from spans other where other.began <= s.began and other.ended > s.began) as under_way from spans s
      ) counted`)
    expect(rows[0]).toEqual({ most: LIMIT })
  })

  it('remove every file again when a later step fails', async () => {
    const workflow = define('album', { version: 1, input: unchecked<number>(), retry: false })
      .map('write', {
        over: ({ input }) => Array.from({ length: input }, (_, n) => `file-${n}`),
        itemKey: (name) => name,
        concurrency: 20,
        run: ({ item }) => handlers.query('insert into files values ($1)', [item]).then(() => item),
        compensate: ({ item }) => handlers.query('delete from files where item = $1', [item]),
      })
      .step('publish', {
        dependsOn: ['write'],
        run: async () => {
          const { rows } = await handlers.query('select count(*)::int as files from files')
          throw new PermanentError(`refused ${rows[0].files} files`)
        },
      })
    const engine = await work([workflow])
    const run = await engine.run(workflow, 300)
    await expect(run.result()).rejects.toThrow(/refused 300 files\. Undone: 300 of 300\./)
    expect((await handlers.query('select * from files')).rows).toEqual([])
  })
})
