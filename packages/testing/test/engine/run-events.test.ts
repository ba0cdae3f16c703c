import { define, type Engine, type EngineEvents, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { memoryTransaction } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

const RUN_EVENTS = [
  'run.started',
  'run.completed',
  'run.compensating',
  'run.failed',
  'run.compensated',
  'run.cancelled',
  'run.compensation_failed',
  'run.ended',
  'run.paused',
  'run.resumed',
] as const satisfies readonly (keyof EngineEvents)[]

/** The events that an engine emits about runs, with their names. */
function told(engine: Engine) {
  const names: string[] = []
  const events: EngineEvents[(typeof RUN_EVENTS)[number]][] = []
  for (const name of RUN_EVENTS) {
    engine.on(name, (event) => {
      names.push(name)
      events.push(event)
    })
  }
  return { names, events }
}

const order = define('order', { version: 3, input: unchecked<'fine' | 'broken' | 'stuck'>() })
  .step('reserve', {
    run: () => 'reserved',
    compensate: {
      retry: false,
      run: ({ input }) => {
        if (input === 'stuck') throw new Error('the warehouse is closed')
      },
    },
  })
  .sleep('cool', { dependsOn: ['reserve'], for: '1h' })
  .step('charge', {
    dependsOn: ['cool'],
    retry: false,
    run: ({ input }) => {
      if (input !== 'fine') throw new Error('the bank is down')
    },
  })

const PATIENT = { tick: '1m', lease: '1d' } as const
const HOUR = 3_600_000

describe('events of runs carry workflow, version, key, tags and duration', () => {
  it('when a run completes', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [order], ...PATIENT })
    const { names, events } = told(engine)
    const run = await engine.run(order, 'fine', { key: 'o1' })

    await clock.runUntil(run.result())

    expect(names).toEqual(['run.started', 'run.completed', 'run.ended'])
    const identity = { runId: run.id, workflow: 'order', version: 3, key: 'o1', tags: [] }
    expect(events[0]).toEqual(identity)
    expect(events[1]).toEqual({ ...identity, status: 'completed', durationMs: expect.any(Number) })
    expect(events[2]).toEqual(events[1])
    expect((events[1] as EngineEvents['run.ended']).durationMs).toBeGreaterThanOrEqual(HOUR)
    expect((events[1] as EngineEvents['run.ended']).durationMs).toBeLessThan(HOUR + 60_000)
  })

  it('when a run is undone, or its undo is parked and then repaired', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [order], ...PATIENT })
    const { names, events } = told(engine)

    const broken = await engine.run(order, 'broken', { key: 'broken' })
    await clock.runUntil(broken.result().catch(() => {}))
    const stuck = await engine.run(order, 'stuck', { key: 'stuck' })
    await clock.runUntil(stuck.result().catch(() => {}))
    await stuck.skipCompensation('reserve')

    expect(names).toEqual([
      ...['run.started', 'run.compensating', 'run.compensated', 'run.ended'],
      ...['run.started', 'run.compensating', 'run.compensation_failed', 'run.compensated', 'run.ended'],
    ])
    for (const [index, event] of events.entries()) {
      const key = index < 4 ? 'broken' : 'stuck'
      expect(event).toMatchObject({ workflow: 'order', version: 3, key, tags: [] })
    }
  })

  it('when a run is cancelled, with its undo or without, and when its deadline passes', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [order], ...PATIENT })
    const { names, events } = told(engine)

    const cancelled = await engine.run(order, 'fine', { key: 'o1' })
    await clock.advance('1m')
    await cancelled.cancel()
    await clock.runUntil(cancelled.result().catch(() => {}))
    const abandoned = await engine.run(order, 'fine', { key: 'o2' })
    await abandoned.cancel({ compensate: false })
    await clock.runUntil(abandoned.result().catch(() => {}))
    const late = await engine.run(order, 'fine', { key: 'o3', deadline: '5m' })
    await clock.runUntil(late.result().catch(() => {}))

    const stopped = ['run.started', 'run.compensating', 'run.cancelled', 'run.ended']
    const expired = ['run.started', 'run.compensating', 'run.compensated', 'run.ended']
    expect(names).toEqual([...stopped, ...stopped, ...expired])
    expect(events.map(({ key }) => key)).toEqual(['o1', 'o2', 'o3'].flatMap((key) => [key, key, key, key]))
  })

  it('when an operator pauses, resumes, retries a run or skips its last step', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [order], ...PATIENT })
    const { names, events } = told(engine)
    const run = await engine.run(order, 'broken', { key: 'o1' })
    await clock.advance('1m')

    await run.pause()
    await run.resume()
    await clock.runUntil(run.result().catch(() => {}))
    await run.retry()
    await clock.advance('1s')
    await run.cancel({ compensate: false })
    await clock.runUntil(run.result().catch(() => {}))

    expect(names).toEqual([
      ...['run.started', 'run.paused', 'run.resumed', 'run.compensating', 'run.compensated', 'run.ended'],
      ...['run.resumed', 'run.compensating', 'run.cancelled', 'run.ended'],
    ])
    for (const event of events) expect(event).toMatchObject({ workflow: 'order', version: 3, key: 'o1' })
  })

  it('when its last step commits in a transaction, and when it has nothing to undo', async () => {
    const { clock, worker } = engines()
    const booked = define('booked', { version: 1, input: unchecked<boolean>() }).step('book', {
      transaction: memoryTransaction(),
      retry: false,
      run: ({ input }) => {
        if (!input) throw new Error('fully booked')
      },
    })
    const engine = await worker({ workflows: [booked], ...PATIENT })
    const { names, events } = told(engine)

    await clock.runUntil((await engine.run(booked, true, { key: 'b1' })).result())
    await clock.runUntil((await engine.run(booked, false, { key: 'b2' })).result().catch(() => {}))

    expect(names).toEqual([
      ...['run.started', 'run.completed', 'run.ended'],
      ...['run.started', 'run.compensating', 'run.failed', 'run.ended'],
    ])
    for (const event of events) expect(event).toMatchObject({ workflow: 'booked', version: 1, tags: [] })
  })

  it('also from an engine that does not have the definition', async () => {
    const { clock, worker, engine } = engines()
    const owner = await worker({ workflows: [order], ...PATIENT })
    const operator = engine()
    const { names, events } = told(operator)
    const run = await owner.run(order, 'fine', { key: 'o1' })
    await clock.advance('1m')

    await operator.pause(run)
    await operator.cancel(run)
    await clock.advance('1s')

    expect(names).toEqual(['run.paused', 'run.compensating'])
    for (const event of events) {
      expect(event).toMatchObject({ runId: run.id, workflow: 'order', version: 3, key: 'o1' })
    }
  })

  it('and an end is reported once, also if the run is moved to another version afterwards', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [order], ...PATIENT })
    const run = await engine.run(order, 'broken')
    await clock.runUntil(run.result().catch(() => {}))
    const { names } = told(engine)
    const next = define('order', { version: 4, input: unchecked<'fine' | 'broken' | 'stuck'>() })
      .step('reserve', { run: () => 'reserved', compensate: () => {} })
      .sleep('cool', { dependsOn: ['reserve'], for: '1h' })
      .step('charge', { dependsOn: ['cool'], run: () => 'charged' })

    expect(await engine.migrateRun(run, next)).toBe(true)

    expect(names).toEqual([])
  })
})

describe('a step that is recovered from a dead worker', () => {
  it('is reported by name, even by a worker without its definition', async () => {
    const { clock, worker, sleep } = engines()
    const slow = define('slow', { version: 2 })
      .step('first', { run: () => 1 })
      .step('hangs', { dependsOn: ['first'], run: () => sleep(30 * 86_400_000) })
      .map('each', { dependsOn: ['first'], over: () => ['x'], run: () => sleep(30 * 86_400_000) })
    const other = define('other', { version: 1 }).step('a', { run: () => 1 })
    const stopped = { stopped: false }
    const after = (delayMs: number, fire: () => void) =>
      clock.after(delayMs, () => {
        if (!stopped.stopped) fire()
      })
    const dying = await worker({ workflows: [slow], clock: { now: () => clock.now(), after }, lease: '30s' })
    const living = await worker({ workflows: [other], lease: '30s' })
    const run = await dying.run(slow)
    await clock.advance('1s')
    const recovered: EngineEvents['step.recovered'][] = []
    living.on('step.recovered', (event) => recovered.push(event))

    stopped.stopped = true
    await clock.advance('2m')

    const of = {
      ...{
        runId: run.id,
        workflow: 'slow',
        version: 2,
        direction: 'forward',
        kind: 'work',
        attempt: 1,
        losses: 1,
      },
      startedAt: expect.any(Date),
    }
    expect(recovered).toEqual([
      { ...of, step: 'hangs', idempotencyKey: `${run.id}:hangs` },
      { ...of, step: 'each[0]', idempotencyKey: `${run.id}:each[0]` },
    ])
  })
})
