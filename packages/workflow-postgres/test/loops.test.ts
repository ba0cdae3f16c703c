import { createEngine, define, PermanentError, unchecked, type WorkflowDefinition } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres, postgresTransaction } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const WORKERS = 3

describe.each(servers)('loops of several workers on $name', ({ url }) => {
  let database: TestDatabase
  let handlers: pg.Pool
  beforeAll(async () => {
    database = await createDatabase(url)
    handlers = new pg.Pool({ connectionString: database.url, max: 5 })
    await handlers.query('create table pages (round int primary key)')
    await handlers.query('create table moments (moment serial, what text)')
    await postgres(database.pool).migrate()
  })
  afterAll(async () => {
    await handlers.end()
    await database.drop()
  })

  /** Engines with adapters of their own, like processes. */
  async function work(workflow: WorkflowDefinition) {
    const engines = Array.from({ length: WORKERS }, () =>
      createEngine({ adapter: postgres(database.url), workflows: [workflow] }),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    await Promise.all(engines.map((engine) => engine.start()))
    return engines[0]!
  }

  it('remove every round again when a later step fails, the last one first', async () => {
    const note = (what: string) => handlers.query('insert into moments (what) values ($1)', [what])
    const workflow = define('import', { version: 1, input: unchecked<number>(), retry: false })
      .repeat('fetch', {
        first: () => 0,
        run: async ({ last, round }) => {
          await note(`fetch ${round}`)
          await handlers.query('insert into pages values ($1)', [round])
          return last + 1
        },
        until: ({ output, input }) => output === input,
        // The next round is queued: any worker may claim it.
        delay: ({ round }) => (round % 10 === 0 ? '1ms' : 0),
        compensate: async ({ round, output }) => {
          await note(`undo ${round} ${output}`)
          await handlers.query('delete from pages where round = $1', [round])
        },
      })
      .step('publish', {
        dependsOn: ['fetch'],
        run: ({ deps }) => {
          throw new PermanentError(`refused ${deps.fetch} pages`)
        },
      })
    const engine = await work(workflow)
    const run = await engine.run(workflow, 50)
    await expect(run.result()).rejects.toThrow(/refused 50 pages\. Undone: 50 of 50\./)

    expect((await handlers.query('select * from pages')).rows).toEqual([])
    const { rows } = await handlers.query('select what from moments order by moment')
    const rounds = Array.from({ length: 50 }, (_, index) => index + 1)
    expect(rows.map(({ what }) => what)).toEqual([
      ...rounds.map((round) => `fetch ${round}`),
      ...rounds.toReversed().map((round) => `undo ${round} ${round}`),
    ])
  })

  it('write in the transactions of their rounds, each round once', async () => {
    const workflow = define('booking', { version: 1 }).repeat('book', {
      transaction: postgresTransaction(),
      run: async ({ tx, round }) => {
        await tx.client.query('insert into pages values ($1)', [1_000 + round])
        return round
      },
      until: async ({ output }) => output === 20,
    })
    const engine = await work(workflow)
    const run = await engine.run(workflow, null)
    expect(await run.result()).toEqual({ book: 20 })

    const { rows } = await handlers.query('select count(*)::int as pages from pages where round > 1000')
    expect(rows).toEqual([{ pages: 20 }])
  })
})
