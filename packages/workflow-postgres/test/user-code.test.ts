import { type Clock, createEngine, define, type Engine } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { realClock } from '../../testing/src/clock/real-clock.ts'
import { postgres } from '../src/index.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

/** Real time, but functions have a second to answer instead of half a minute. */
const impatient: Clock = {
  now: () => realClock.now(),
  after: (delayMs, fire) => realClock.after(delayMs === 30_000 ? 1_000 : delayMs, fire),
}

const state = { isBad: false, calls: 0 }
const hanging = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate(value: unknown) {
      if (!state.isBad) return { value }
      state.calls += 1
      return new Promise<never>(() => {})
    },
  },
}

const spoilt = define('spoilt', { version: 1, input: hanging as never }).step('s', { run: () => 1 })
const steady = define('steady', { version: 1 }).step('s', { run: () => 1 })
const late = define('late', { version: 1, deadline: '2s' }).waitForSignal('never', {})
const child = define('child', { version: 1 }).sleep('nap', { for: '1s' })
const parent = define('parent', { version: 1 })
  .workflow('child', child, {})
  .onCompleted('told', { run: () => 'told' })
const workflows = [spoilt, steady, late, child, parent]

describe.each(servers)('an input schema that never answers, on $name', ({ url }) => {
  let database: TestDatabase
  const errors: unknown[] = []
  let engines: readonly Engine[]
  beforeAll(async () => {
    database = await createDatabase(url)
    await postgres(database.pool).migrate()
  })
  afterAll(() => database.drop())

  it('holds up its own schedule only: other schedules, deadlines, parents and end steps go on, on all workers', async () => {
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (message: string, fields?: object) => void errors.push({ message, ...fields }),
    }
    engines = [1, 2].map(() =>
      createEngine({ adapter: postgres(database.url), workflows, logger, clock: impatient }),
    )
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
    })
    await Promise.all(engines.map((engine) => engine.start()))
    const [engine] = engines as [Engine]
    await engine.schedules.put('bad', { every: '1s', workflow: spoilt, overlap: 'queue', input: 1 as never })
    await engine.schedules.put('good', { every: '1s', workflow: steady, overlap: 'queue' })
    state.isBad = true
    const dying = await engine.run(late)
    const families = await engine.runMany(parent, [{}, {}, {}])

    const started = async () =>
      (await engine.schedules.history('good')).filter(({ status }) => status === 'started').length
    await Promise.all(families.map((family) => family.result({ timeout: '20s' })))
    await dying.result({ timeout: '20s' }).catch(() => {})
    await vi.waitFor(async () => expect(await started()).toBeGreaterThanOrEqual(5), { timeout: 20_000 })
    const failed = { type: 'failing_schedules', schedules: ['bad'] }
    await vi.waitFor(
      async () => expect((await engine.doctor()).findings).toContainEqual(expect.objectContaining(failed)),
      { timeout: 20_000 },
    )

    expect((await dying.status()).status).toBe('failed')
    await vi.waitFor(
      async () => {
        const ended = await engine.runs.list({ workflow: 'parent/ended', status: 'completed' })
        expect(ended).toHaveLength(3)
      },
      { timeout: 20_000 },
    )
    const [newest] = await engine.schedules.history('bad')
    expect(newest!.reason).toMatch(/The schema of workflow "spoilt" did not answer/)
    expect(errors).toContainEqual(
      expect.objectContaining({
        message: expect.stringMatching(/firing of a schedule failed/),
        schedule: 'bad',
      }),
    )
  })
})
