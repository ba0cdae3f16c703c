import { startPostgres } from '@belay/postgres-server'
import { createEngine, define } from '@belay/workflow'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, postgres } from '../src/index.ts'

const order = define('order', { version: 1 })
  .waitForSignal('paid')
  .step('ship', { dependsOn: ['paid'], run: () => 'shipped' })

describe('a transaction of the caller that commits in two phases', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    server = await startPostgres({ inMemory: true, settings: { max_prepared_transactions: '10' } })
  })
  afterAll(() => server.stop())

  it('starts, signals, pauses and resumes runs, which workers find at their ticks', async () => {
    const url = await server.createDatabase()
    await migrate(url)
    const worker = createEngine({ adapter: postgres(url), workflows: [order], tick: '20ms' })
    const caller = createEngine({ adapter: postgres(url, { listen: false }), workflows: [order] })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(async () => {
      await client.end()
      await caller.close({ timeout: 0 })
      await worker.close({ timeout: 0 })
    })
    await worker.start()
    const twoPhases = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
      await client.query('begin')
      const result = await work()
      await client.query(`prepare transaction '${name}'`)
      await client.query(`commit prepared '${name}'`)
      return result
    }

    const tx = client
    const run = await twoPhases('start', () => caller.run(order, undefined, { tx }))
    await twoPhases('pause', () => run.pause({ tx }))
    await twoPhases('signal', () => run.signal('paid', null, { tx }))
    await twoPhases('resume', () => run.resume({ tx }))

    expect(await run.result()).toMatchObject({ ship: 'shipped' })
  })
})
