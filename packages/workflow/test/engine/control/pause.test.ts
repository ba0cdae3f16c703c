import { describe, expect, it } from 'vitest'
import { HELD_TURNS } from '../../../src/adapter/index.ts'
import { planPause, planResume } from '../../../src/engine/control/pause.ts'
import { queueEntries } from '../../../src/engine/control/plan.ts'
import { FAILED, runToChange } from './run-to-change.ts'

describe('a pause', () => {
  it('gives each step that has not begun, or waits between two attempts, one more open dependency', () => {
    const plan = planPause(
      runToChange(
        {},
        {
          a: 'running',
          b: { status: 'ready' },
          c: { status: 'pending', openDependencies: 2 },
          d: { status: 'waiting', waitingSince: 1 },
          e: 'completed',
        },
      ),
    )

    expect(plan?.run.status).toBe('paused')
    expect(plan?.steps).toMatchObject([
      { name: 'b', status: 'ready', openDependencies: 1 },
      { name: 'c', status: 'pending', openDependencies: 3 },
      { name: 'd', status: 'waiting', openDependencies: 1 },
    ])
    expect(plan?.queue).toEqual([])
  })

  it('is reversed by a resumption', () => {
    const found = runToChange({}, { a: 'running', c: { status: 'pending', openDependencies: 2 } })
    const paused = planPause(found)!
    const steps = found.steps.map(
      (step) => paused.steps.find((changed) => changed.step === step.step) ?? step,
    )

    const resumed = planResume({ ...found, run: paused.run, steps })!

    expect(resumed.run).toEqual(found.run)
    expect(resumed.steps).toEqual([found.steps[1]])
  })

  it('leaves items as they are, and takes the next one that waits for its turn out of reach', () => {
    const turns = { atOnce: 2, nextItem: 3, order: null }
    const found = runToChange(
      {},
      {
        'm[]': 'completed',
        m: { status: 'pending', openDependencies: 4, turns },
        'm[a]': { status: 'ready', itemKey: 'a' },
        'm[b]': { status: 'pending', openDependencies: 1, itemKey: 'b' },
      },
    )
    const paused = planPause(found)!
    const held = { ...turns, nextItem: 3 + HELD_TURNS }
    expect(paused.steps).toMatchObject([{ name: 'm', openDependencies: 5, turns: held }])

    const steps = found.steps.map((step) => (step.step === 1 ? paused.steps[0]! : step))
    const resumed = planResume({ ...found, run: paused.run, steps })!
    expect(resumed.steps).toEqual([found.steps[1]])
    expect(resumed.queue).toEqual([])
  })

  it('of a run with maps or loops is over once their items are queued too', () => {
    const { shape, ...found } = runToChange({ status: 'paused' }, { 'm[]': 'completed', m: 'ready' })
    const mapped = { steps: shape.steps.map((step) => ({ ...step, kind: 'map' as const })) }
    expect(planResume({ ...found, shape: mapped })).toMatchObject({ queuesItems: true })
    expect(planResume({ ...found, shape })).not.toHaveProperty('queuesItems')
  })

  it('gives each undo that has not begun one more open dependency', () => {
    const plan = planPause(
      runToChange(
        { status: 'compensating', stop: 'failure', endsAs: 'compensated' },
        {
          a: { status: 'compensating', openDependencies: 1, undoOf: 'completed' },
          b: { status: 'compensating', workerId: 'w', undoOf: 'completed', dependsOn: [0] },
          c: { status: 'compensating', undoOf: 'completed' },
          d: 'failed',
        },
      ),
    )

    expect(plan?.run).toMatchObject({ status: 'paused', stop: 'failure', endsAs: 'compensated' })
    expect(plan?.steps).toMatchObject([
      { name: 'a', openDependencies: 2 },
      { name: 'c', openDependencies: 1 },
    ])
  })

  it('changes no step of a stopped run whose undo has not begun', () => {
    const plan = planPause(
      runToChange({ status: 'compensating', stop: 'failure' }, { a: 'running', b: 'ready' }),
    )

    expect(plan).toMatchObject({ run: { status: 'paused', stop: 'failure' }, steps: [] })
  })

  it.each(['completed', 'failed', 'cancelled'] as const)('of a run that is %s is refused', (status) => {
    expect(() => planPause(runToChange({ ...FAILED, status }, { a: 'failed' }))).toThrow(/cannot be paused/)
    expect(() => planResume(runToChange({ ...FAILED, status }, { a: 'failed' }))).toThrow(/cannot be resumed/)
  })
})

describe('a resumption', () => {
  const queueOf = (run: object, steps: Parameters<typeof runToChange>[1]) => {
    const plan = planResume(runToChange({ status: 'paused', ...run }, steps))!
    return queueEntries(plan.run, plan.queue)
  }

  it('makes the steps ready that waited only for it', () => {
    const plan = planResume(
      runToChange({ status: 'paused' }, { a: 'completed', b: { openDependencies: 1, dependsOn: [0] } }),
    )

    expect(plan?.steps).toMatchObject([{ name: 'b', status: 'ready', openDependencies: 0 }])
    expect(plan?.queue).toMatchObject([{ name: 'b' }])
  })

  it('does not change the open dependencies of a step that came back from its worker after the pause', () => {
    const plan = planResume(
      runToChange({ status: 'paused' }, { held: { status: 'ready', openDependencies: 1 }, back: 'ready' }),
    )

    expect(plan?.steps).toMatchObject([{ name: 'held', status: 'ready', openDependencies: 0 }])
    expect(plan?.queue.map(({ name }) => name).sort()).toEqual(['back', 'held'])
  })

  it('queues retries and timers for their time, signalled waits for now, and does not queue waits without a timeout', () => {
    const queue = queueOf(
      {},
      {
        ready: 'ready',
        retry: { status: 'ready', availableAt: 20_000 },
        timer: { status: 'waiting', availableAt: 30_000, waitingSince: 1 },
        signalled: { status: 'waiting', availableAt: 40_000, waitingSince: 1, signalledAt: 9_000 },
        endless: { status: 'waiting', waitingSince: 1 },
        running: 'running',
      },
    )

    expect(queue).toEqual([
      { step: 0, availableAt: null },
      { step: 1, availableAt: 20_000 },
      { step: 2, availableAt: 30_000 },
      { step: 3, availableAt: null },
    ])
  })

  it('lets nothing begin before the start of its run', () => {
    expect(queueOf({ startAt: 50_000 }, { a: 'ready', b: { status: 'ready', availableAt: 60_000 } })).toEqual(
      [
        { step: 0, availableAt: 50_000 },
        { step: 1, availableAt: 60_000 },
      ],
    )
  })
})
