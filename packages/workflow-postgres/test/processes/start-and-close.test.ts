import { createEngine, define, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrate, postgres } from '../../src/index.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { WorkerProcess } from './child.ts'

const order = define('order', { version: 1, input: unchecked<object>() })
  .waitForSignal('paid', { schema: unchecked<object>() })
  .step('reserve', { run: () => 1 })

describe('a process that does one thing and closes its engine at once', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(servers[0]!.url)
    await migrate(database.url)
  })
  afterAll(() => database.drop())

  /** A worker that looks for work only when it is told, with a run that waits. */
  async function given() {
    const adapter = postgres(database.url)
    const engine = createEngine({ adapter, workflows: [order], tick: '1m' })
    await engine.start()
    const run = await engine.run(order, {})
    const isWaiting = async () => expect((await run.status()).status).toBe('waiting')
    await vi.waitFor(isWaiting, 10_000)
    const hints: unknown[] = []
    adapter.onWake((hint) => hints.push(hint))
    onTestFinished(() => engine.close())
    return { run, hints }
  }

  async function leftBy(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const child = new WorkerProcess({ DATABASE_URL: database.url, ...env }, 'start-and-close.mjs')
    onTestFinished(() => child.kill())
    const exit = child.exit()
    await child.saysEvent('closed')
    expect(await exit).toBe(0)
    return child.lines.find(({ event }) => event === 'closed')!.left!
  }

  it.each<[action: string, pool: Readonly<Record<string, string>>]>([
    ['run', {}],
    ['run', { POOL: 'given' }],
    ['runMany', {}],
    ['runAndAwait', {}],
    ['signal', {}],
    ['tx', {}],
  ])('leaves nothing that keeps it alive, and wakes the workers: %s, %o', async (ACTION, pool) => {
    const { run, hints } = await given()

    const left = await leftBy({ ACTION, RUN_ID: run.id, ...pool })

    expect(left).not.toContain('Timeout')
    await vi.waitFor(() => expect(hints.length).toBeGreaterThan(0), 10_000)
  })

  it.each(['cancel', 'refused'])('leaves nothing either after what wakes nobody: %s', async (ACTION) => {
    const { run } = await given()
    expect(await leftBy({ ACTION, RUN_ID: run.id })).not.toContain('Timeout')
  })
})
