import { define, type ScheduleOptions, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from '../engine/bench-of-engines.ts'
import { WAYS } from './ways.ts'

const steady = define('steady', { version: 1 }).step('s', { run: () => 1 })
const late = define('late', { version: 1, deadline: '3m' }).waitForSignal('never', {})
const child = define('child', { version: 1 }).sleep('nap', { for: '2m' })
const parent = define('parent', { version: 1 })
  .workflow('child', child, {})
  .onCompleted('told', { run: () => 'told' })

/** A workflow whose schema is sound while it is put, and then is not. */
function spoilt(bad: () => unknown) {
  const state = { isBad: false, calls: 0 }
  const validate = (value: unknown): unknown => {
    state.calls += 1
    return state.isBad ? bad() : { value }
  }
  const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } }
  const workflow = define('spoilt', { version: 1, input: schema as never }).step('s', { run: () => 1 })
  return { state, workflow: workflow as WorkflowDefinition }
}

async function world(bad: () => unknown, overlap: ScheduleOptions['overlap'] = 'skip') {
  const bench = engines()
  const { state, workflow } = spoilt(bad)
  const errors: string[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) }
  const workflows = [steady, late, child, parent, workflow]
  const engine = await bench.worker({ workflows, logger })
  await bench.worker({ workflows })
  await engine.schedules.put('bad', { every: '1m', workflow, overlap, input: 1 })
  await engine.schedules.put('good', { every: '1m', workflow: steady, overlap: 'queue' })
  state.isBad = true
  return { ...bench, engine, errors, state }
}

describe.each(Object.entries(WAYS))('an input schema that %s', (way, bad) => {
  it.each(['skip', 'queue'] as const)(
    'fails the firings of its schedule (overlap %s), and everything else goes on in time',
    async (overlap) => {
      const { clock, engine, errors } = await world(bad, overlap)
      const dying = await engine.run(late)
      const family = await engine.run(parent)

      await clock.advance('605s')

      const good = await engine.schedules.history('good')
      expect(good.filter(({ status }) => status === 'started')).toHaveLength(10)
      expect((await dying.status()).status).toBe('failed')
      expect((await family.status()).status).toBe('completed')
      const ended = await engine.runs.list({ workflow: 'parent/ended' })
      expect(ended.map(({ status }) => status)).toEqual(['completed'])
      const [newest, ...older] = await engine.schedules.history('bad')
      expect(newest).toMatchObject({ status: 'failed' })
      if (way === 'hangs')
        expect(newest!.reason).toMatch(/schema of workflow "spoilt" did not answer within 30s/)
      expect(older.length).toBeGreaterThanOrEqual(8)
      expect(errors).toContain('A firing of a schedule failed; the schedule goes on.')
      const { findings } = await engine.doctor()
      expect(findings).toContainEqual(
        expect.objectContaining({ type: 'failing_schedules', schedules: ['bad'] }),
      )
    },
  )
})

describe('an input schema that hangs', () => {
  it('is called once at a time for a schedule, by each worker', async () => {
    const { clock, state } = await world(WAYS['hangs']!)
    const before = state.calls
    await clock.advance('85s')
    expect(state.calls - before).toBe(2)
  })

  it('does not hold up the next schedules, however many wait for it', async () => {
    const { clock, engine, state } = await world(WAYS['hangs']!)
    state.isBad = false
    const { workflow } = { workflow: 'spoilt' }
    for (let batch = 0; batch < 3; batch += 1)
      await engine.schedules.putMany(
        Array.from(
          { length: 100 },
          (_, n) => ({ name: `a${batch}-${n}`, every: '1m', workflow, input: n }) as const,
        ),
      )
    state.isBad = true

    await clock.advance('125s')

    const good = await engine.schedules.history('good')
    expect(good.filter(({ status }) => status === 'started')).toHaveLength(2)
  })

  it.each([
    [600, 0],
    // At first nobody knows which of them are sound.
    [1_500, 65],
  ])('leaves places to the others, although %i hang again and again', async (count, fromS) => {
    const bench = engines()
    const { state, workflow } = spoilt(WAYS['hangs']!)
    const engine = await bench.worker({ workflows: [steady, workflow] })
    const bad = Array.from(
      { length: count },
      (_, n) => ({ name: `bad-${n}`, every: '1s', workflow, input: n }) as const,
    )
    while (bad.length > 0) await engine.schedules.putMany(bad.splice(0, 1_000))
    await engine.schedules.put('good', { every: '1s', workflow: steady, overlap: 'allow' })
    state.isBad = true
    const started = () => engine.runs.count({ workflow: 'steady' })

    await bench.clock.advance(fromS * 1_000)
    const before = await started()
    await bench.clock.advance('60s')

    expect((await started()).count - before.count).toBeGreaterThanOrEqual(55)
  })
})

describe('a schedule whose times cannot be computed', () => {
  it.each([
    ['an unknown time zone', { cron: '* * * * *', timeZone: 'Mars/Olympus' }],
    ['a bad pattern', { cron: 'every day', timeZone: 'UTC' }],
    ['a distance of 0', { everyMs: 0, anchorAt: 0 }],
    ['no timing', null],
  ])('for %s fails, says why, and holds up no other', async (_, timing) => {
    const { clock, adapter, engine, errors } = await world(WAYS['throws']!)
    await adapter.changeSchedules({
      names: ['bad'],
      decide: ({ schedule }) => {
        const spec = { ...schedule!.spec, timing: timing as never }
        return {
          change: { schedule: { ...schedule!, spec }, firings: [], starts: [], cancels: [] },
          answer: null,
        }
      },
    })

    await clock.advance('605s')

    const good = await engine.schedules.history('good')
    expect(good.filter(({ status }) => status === 'started')).toHaveLength(10)
    const bad = await engine.schedules.history('bad')
    expect(bad[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('times cannot be computed'),
    })
    expect(bad.length).toBeLessThanOrEqual(11)
    expect(errors).toContain('A firing of a schedule failed; the schedule goes on.')
  })
})
