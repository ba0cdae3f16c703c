import { createEngine, define, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'

const approval = define('approval', { version: 1, input: unchecked<object>(), priority: 3 })
  .waitForSignal('paid', { schema: unchecked<object>(), timeout: '14d' })
  .step('ship', { run: () => 1 })
const retried = define('retried', { version: 1, input: unchecked<object>() }).step('call', {
  retry: { attempts: 3, initial: '14d', jitter: false },
  run: () => {
    throw new Error('not yet')
  },
})
const failing = define('failing', { version: 1, input: unchecked<object>() })
  .waitForSignal('paid', { schema: unchecked<object>(), timeout: '14d' })
  .waitForSignal('go', { schema: unchecked<object>(), timeout: '14d', dependsOn: [] })
  .step('fail', {
    dependsOn: ['go'],
    retry: false,
    run: () => {
      throw new Error('no')
    },
  })

// A queue row of a wait of 14 days would otherwise stay for 14 days.
describe.each(servers)('the queue rows of a wait that is over, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  async function given() {
    const adapter = await createStore(database)
    const engine = createEngine({ adapter, workflows: [approval, retried, failing] })
    onTestFinished(() => engine.close())
    const ahead = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `select (select count(*) from ${adapter.schema}.workflow_ready where available_at > now() + interval '1 day')
          + (select count(*) from ${adapter.schema}.workflow_ready_late) as rows`,
      )
      return Number(rows[0].rows)
    }
    const until = (count: number) => vi.waitFor(async () => expect(await ahead()).toBe(count), 20_000)
    return { engine, ahead, until }
  }

  /** A run that waits, whose priority gives it a second row. */
  async function waiting() {
    const store = await given()
    await store.engine.start()
    const run = await store.engine.run(approval, {}, { priority: 3 })
    await store.until(2)
    return { ...store, run }
  }

  it('go with the signal', async () => {
    const { run, ahead } = await waiting()
    await run.signal('paid', {})
    expect(await ahead()).toBe(0)
  })

  it('go with a cancellation', async () => {
    const { run, ahead } = await waiting()
    await run.cancel()
    expect(await ahead()).toBe(0)
  })

  it('go when the step is skipped', async () => {
    const { run, ahead } = await waiting()
    await run.skipStep('paid', { output: {} })
    expect(await ahead()).toBe(0)
  })

  it('go with a pause, and are there once after the resumption', async () => {
    const { run, ahead } = await waiting()
    await run.pause()
    expect(await ahead()).toBe(0)
    await run.resume()
    expect(await ahead()).toBe(2)
    await run.signal('paid', {})
    expect(await ahead()).toBe(0)
  })

  it('are there once after another priority', async () => {
    const { run, ahead } = await waiting()
    await run.setPriority(7)
    expect(await ahead()).toBe(2)
  })

  it('go when a retry is not waited for', async () => {
    const { engine, until, ahead } = await given()
    await engine.start()
    const run = await engine.run(retried, {})
    await until(1)
    await engine.stop()
    await run.retryStep('call')
    expect(await ahead()).toBe(0)
  })

  it('go when another step of the run fails', async () => {
    const { engine, until } = await given()
    await engine.start()
    const run = await engine.run(failing, {})
    await until(2)
    await run.signal('go', {})
    await until(0)
  })

  it('go when a run that was to start later is cancelled', async () => {
    const { engine, until, ahead } = await given()
    const run = await engine.run(approval, {}, { delay: '14d' })
    // Both steps are ready then, and each has a priority.
    await until(4)
    await run.cancel()
    expect(await ahead()).toBe(0)
  })
})
