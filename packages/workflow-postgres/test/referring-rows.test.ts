import { createEngine, define, unchecked } from '@belay/workflow'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const input = unchecked<{ broken: boolean }>()

const workflow = define('referred', { version: 1, input })
  .step('first', {
    run: () => 1,
    compensate: { retry: false, run: ({ input }) => failIf(input.broken, 'the undo') },
  })
  .waitForSignal('paid', { dependsOn: ['first'] })
  .step('last', {
    dependsOn: ['paid'],
    retry: false,
    run: ({ deps }) => failIf(deps.paid === 'badly', 'the step'),
  })

const plain = define('plainly-referred', { version: 1, input })
  .waitForSignal('paid')
  .step('last', { dependsOn: ['paid'], retry: false, run: ({ deps }) => failIf(deps.paid === 'badly', 'it') })

const limited = define('limited-and-referred', { version: 1 })
  .waitForSignal('paid')
  .step('mail', { dependsOn: ['paid'], concurrency: { name: 'mails', limit: 1 }, run: () => 'sent' })

function failIf(isBroken: boolean, what: string): string {
  if (isBroken) throw new Error(`${what} failed`)
  return 'done'
}

/** For hangs: a call that waits for a lock is refused earlier. */
const SOON_MS = 20_000

describe.each(servers)("an open transaction with rows that refer to a run's on $name", ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  /** An engine, and a way to insert rows with foreign keys in a transaction that stays open. */
  async function given() {
    const adapter = await createStore(database)
    const { schema } = adapter
    await database.pool.query(`
      create table ${schema}.orders (run_id uuid references ${schema}.workflow_runs);
      create table ${schema}.notes (run_id uuid, step int, foreign key (run_id, step) references ${schema}.workflow_steps)`)
    const clients: pg.PoolClient[] = []
    onTestFinished(async () => {
      for (const client of clients) {
        await client.query('rollback')
        client.release()
      }
      await database.pool.query(`drop table ${schema}.orders, ${schema}.notes`)
    })
    const refer = async (runId: string) => {
      const client = await database.pool.connect()
      clients.push(client)
      await client.query('begin')
      await client.query(`insert into ${schema}.orders values ($1)`, [runId])
      await client.query(
        `insert into ${schema}.notes select run_id, step from ${schema}.workflow_steps where run_id = $1`,
        [runId],
      )
    }
    const engine = createEngine({
      adapter,
      workflows: [workflow, plain, limited],
      tick: '20ms',
      logger: false,
    })
    onTestFinished(() => engine.close({ timeout: 0 }))
    await engine.start()
    return { engine, refer }
  }

  it('holds up neither claims nor signals, nor the end of the run', async () => {
    const { engine, refer } = await given()
    const run = await engine.run(workflow, { broken: false })
    await refer(run.id)

    await run.signal('paid', 'well')

    expect(await run.result({ timeout: SOON_MS })).toMatchObject({ last: 'done' })
  })

  it('holds up no step that enters a limit', async () => {
    const { engine, refer } = await given()
    const run = await engine.run(limited)
    await refer(run.id)

    await run.signal('paid', null)

    expect(await run.result({ timeout: SOON_MS })).toMatchObject({ mail: 'sent' })
  })

  it('holds up neither pause and resume nor a cancellation and its undo', async () => {
    const { engine, refer } = await given()
    const run = await engine.run(workflow, { broken: false })
    await refer(run.id)

    await run.pause()
    await run.resume()
    await run.cancel()

    await expect(run.result({ timeout: SOON_MS })).rejects.toMatchObject({ status: 'cancelled' })
  })

  it('holds up neither the undo of a failed run, nor retryStep and skipStep', async () => {
    const { engine, refer } = await given()
    const retried = await engine.run(workflow, { broken: false })
    const skipped = await engine.run(plain, { broken: false })
    for (const run of [retried, skipped]) {
      await refer(run.id)
      await run.signal('paid', 'badly')
      await expect(run.result({ timeout: SOON_MS })).rejects.toMatchObject({ code: 'run_failed' })
    }

    await retried.retryStep('last')
    await skipped.skipStep('last', { output: 'by hand' })

    expect(await skipped.result({ timeout: SOON_MS })).toMatchObject({ last: 'by hand' })
    await expect(retried.result({ timeout: SOON_MS })).rejects.toMatchObject({ status: 'compensated' })
  })

  it('holds up neither the parking of an undo nor its repair', async () => {
    const { engine, refer } = await given()
    const run = await engine.run(workflow, { broken: true })
    await refer(run.id)
    await run.signal('paid', 'badly')
    const ended = (status: string) =>
      expect(run.result({ timeout: SOON_MS })).rejects.toMatchObject({ status })
    await ended('compensation_failed')

    await run.skipCompensation('first', { reason: 'by hand' })

    await ended('compensated')
  })
})
