import { createEngine, define, type Engine, type RunHandle } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../src/index.ts'
import { migrateSchema } from '../src/migrate/migrate.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { connectionTo } from './setup/connection.ts'
import { createDatabase, createStore, servers, type TestDatabase } from './setup/database.ts'
import { NEXT_RELEASE } from './setup/next-release.ts'

const LANES = 4
const RUNS_BEFORE = 100
const RUNS_AFTER = 20

const saga = define('saga', { version: 1 })
  .step('reserve', { run: () => 'reserved', compensate: () => {} })
  .step('charge', {
    dependsOn: ['reserve'],
    retry: { attempts: 1 },
    run: ({ input }) => {
      if ((input as { n: number }).n % 5 === 0) throw new Error('no money')
      return 'charged'
    },
  })

describe.each(servers)('workers of this release, while a later release migrates, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
  })
  afterAll(() => database.drop())

  it('continue their runs and their undos, and restart on the newer schema', async () => {
    const { schema } = await createStore(database)
    const warnings: unknown[] = []
    const told: string[] = []
    const worker = async (): Promise<Engine> => {
      const engine = createEngine({
        adapter: postgres(database.url, { schema }),
        workflows: [saga],
        concurrency: 4,
        tick: '50ms',
      })
      onTestFinished(() => engine.close({ timeout: 0 }))
      engine.on('store.notice', ({ code }) => told.push(code))
      engine.on('store.unavailable', (event) => warnings.push(event))
      await engine.start()
      return engine
    }
    const before = await worker()
    const runs: RunHandle[] = []
    let started = 0
    let isMigrated = false
    /** Starts runs one after another until the migration has ended, and some more. */
    const load = async (): Promise<void> => {
      for (let more = RUNS_AFTER; more > 0; more -= isMigrated ? 1 : 0) {
        started += 1
        runs.push(await before.run(saga, { n: started }))
      }
    }
    const lanes = Array.from({ length: LANES }, load)
    await expect.poll(() => runs.length).toBeGreaterThan(RUNS_BEFORE)

    const startedBefore = runs.length
    const { applied } = await migrateSchema(connectionTo(database, schema), schema, {}, [
      ...MIGRATIONS,
      ...NEXT_RELEASE,
    ])
    const startedMeanwhile = runs.length - startedBefore
    isMigrated = true
    const restarted = await worker()
    await Promise.all(lanes)
    await before.stop()
    const ends = await Promise.allSettled(runs.map(({ id }) => restarted.runs.handle(id).result()))

    expect(applied).toEqual(NEXT_RELEASE.map(({ tag }) => tag))
    expect(startedMeanwhile).toBeGreaterThan(0)
    const failed = ends.filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(Math.floor(started / 5))
    for (const { reason } of failed as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ status: 'compensated' })
    }
    expect(told).toEqual(['schema_newer'])
    expect(warnings).toEqual([])
    expect(await restarted.doctor({ failureRate: 1 })).toMatchObject({ healthy: true })
  })
})
