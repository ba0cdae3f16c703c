import { createEngine } from '@belay/workflow'
import { describe, expect, it, type TestContext } from 'vitest'
import { migrate, postgres } from '../../src/index.ts'
import { createDatabase, servers } from '../setup/database.ts'
import { WorkerProcess } from './child.ts'

// Longer than any test: if another worker continues before it ends, the step was released.
const LEASE = '1h'

async function given({ onTestFinished }: TestContext) {
  const database = await createDatabase(servers[0]!.url)
  await migrate(database.pool)
  await database.pool.query(
    `create table calls (id serial primary key, run_id uuid, step text, key text, worker text);
     create table effects (id serial primary key, run_id uuid, step text, key text unique, worker text)`,
  )
  const engine = createEngine({ adapter: postgres(database.url) })
  onTestFinished(async () => {
    await engine.close()
    await database.drop()
  })
  const worker = (env: Readonly<Record<string, string>>) => {
    const started = new WorkerProcess({ DATABASE_URL: database.url, LEASE, ...env })
    onTestFinished(() => started.kill())
    return started
  }
  /** A worker in the middle of the step "charge", and its run. */
  const inTheMiddle = async (env: Readonly<Record<string, string>>) => {
    const working = worker({
      NAME: 'leaving',
      SLOW_STEP: 'charge',
      SLOW_MS: '60000',
      START_KEY: 'one',
      ...env,
    })
    await working.says('charge is called', (lines) => lines.some(({ call }) => call === 'charge'))
    const run = engine.runs.handle(working.lines.find(({ event }) => event === 'run')!.id!)
    return { working, run }
  }
  return { engine, worker, inTheMiddle }
}

describe('a process that is told to stop', () => {
  it('releases a step in progress without spending an attempt and exits with 0, and another worker continues at once', async (context) => {
    const { engine, worker, inTheMiddle } = await given(context)
    const { working, run } = await inTheMiddle({ STOP_TIMEOUT: '100ms' })
    const other = worker({ NAME: 'other' })
    await other.saysEvent('ready')

    const code = await working.leave()
    await other.says('charge is called', (lines) => lines.some(({ call }) => call === 'charge'))
    await run.result().catch(() => {})

    const charge = (await run.status()).steps.find(({ name }) => name === 'charge')
    expect(code).toBe(0)
    expect(charge).toMatchObject({ status: 'compensated', failures: 0, losses: 0 })
    expect((await engine.workers.list()).map(({ name }) => name)).toEqual(['other'])
  })

  it('lets a handler finish in time, and records its outcome', async (context) => {
    const { inTheMiddle } = await given(context)
    const { working, run } = await inTheMiddle({ SLOW_MS: '700', STOP_TIMEOUT: '10s' })

    const code = await working.leave()

    const charge = (await run.status()).steps.find(({ name }) => name === 'charge')
    expect(code).toBe(0)
    expect(charge).toMatchObject({ status: 'completed', output: { by: 'leaving' } })
  })

  it('exits at once when it is told twice, and holds its step until the lease ends', async (context) => {
    const { engine, inTheMiddle } = await given(context)
    const { working, run } = await inTheMiddle({ STOP_TIMEOUT: '1h' })
    // The first renewal tells how busy a worker is. It may come after the first step.
    await expect.poll(async () => (await engine.workers.list())[0]?.busy).toBeTypeOf('number')
    const exit = working.exit()

    working.signal('SIGTERM')
    // The signals may arrive in any order.
    working.signal('SIGINT')

    expect([130, 143]).toContain(await exit)
    const [gone] = await engine.workers.list()
    expect(gone).toMatchObject({ name: 'leaving', status: 'live', busy: expect.any(Number) })
    expect(await engine.workers.holds(gone!.id)).toMatchObject([
      { runId: run.id, step: 'charge', direction: 'forward', attempt: 1 },
    ])
  })
})
