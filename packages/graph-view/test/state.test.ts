import { describe, expect, it } from 'vitest'
import { type StepStatus, stateAt, undoOrder, type ViewRun, wouldUndo } from '../src/index.ts'
import { all, approval, completed, mapped, parked, step, T0, undone } from './runs.ts'

const at = (run: ViewRun, name: string, seconds: number) => {
  const { forward, undo } = stateAt(run, run.steps.find((one) => one.name === name)!, T0 + seconds * 1000)
  return undo === undefined ? forward : `${forward}, ${undo}`
}

describe('the states of a run at an instant', () => {
  it('follow a step from its begin to its undo', () => {
    const states = [0.1, 5, 8, 30, 38, 45, 46.5, 48, 60].map((seconds) => at(undone, 'chargeCard', seconds))
    expect(states).toEqual([
      ...['pending', 'pending', 'running', 'completed', 'completed, to undo'],
      ...['completed, undoing', 'completed, undoing', 'completed, undoing', 'completed, undone'],
    ])
  })

  it('tell retries, parked undos, late successes, skipped and cancelled steps', () => {
    expect([1, 3.5, 5, 7].map((seconds) => at(parked, 'checkFraud', seconds))).toEqual([
      'running',
      'waiting',
      'running',
      'completed',
    ])
    expect([60, 69, 70, 9000].map((seconds) => at(parked, 'chargeCard', seconds).split(', ')[1])).toEqual([
      'undoing',
      'undoing',
      'parked',
      'parked',
    ])
    expect([36, 38, 40.8].map((seconds) => at(parked, 'notifyWarehouse', seconds))).toEqual([
      'running',
      'running',
      'completed, to undo',
    ])
    expect([11, 12].map((seconds) => at(parked, 'addPoints', seconds))).toEqual(['pending', 'skipped'])
    expect([37, 38].map((seconds) => at(parked, 'sendTracking', seconds))).toEqual(['pending', 'cancelled'])
    expect([24.5, 36, 37.2].map((seconds) => at(parked, 'bookCourier', seconds))).toEqual([
      'waiting',
      'running',
      'failed',
    ])
  })

  it('know waits and the time in the queue', () => {
    expect([2.65, 1000, 93_600.2, 100_000].map((seconds) => at(approval, 'askManager', seconds))).toEqual([
      'ready',
      'waiting',
      'completed',
      'completed',
    ])
    expect([1000, 93_600.2, 100_000].map((seconds) => at(approval, 'approveSpend', seconds))).toEqual([
      'pending',
      'ready',
      'waiting',
    ])
  })

  it('are those of the model when it was read, and later', () => {
    const words = { compensating: 'to undo', compensated: 'undone', compensation_failed: 'parked' } as const
    for (const run of Object.values(all))
      for (const one of run.steps) {
        for (const instant of [run.readAt, run.readAt + 1e6]) {
          const { forward, undo } = stateAt(run, one, instant)
          if (one.status in words) expect(undo).toBe(words[one.status as keyof typeof words])
          else expect([forward, undo]).toEqual([one.status, undefined])
        }
      }
  })

  it('agree with every status, with and without attempts', () => {
    const statuses: readonly StepStatus[] = [
      'pending',
      'ready',
      'running',
      'waiting',
      'completed',
      'failed',
      'skipped',
      'cancelled',
    ]
    for (const status of statuses)
      for (const forward of [[], [[1, 2, 'retrying']], [[1, undefined, 'running']]] as const) {
        const run: ViewRun = { ...parked, steps: [step('one', [], status, { forward })] }
        expect(stateAt(run, run.steps[0]!, run.readAt).forward).toBe(status)
      }
  })

  it('belong to the round of that instant', () => {
    const again = (name: string, undo: readonly [number, number]) => {
      const first = step(name, [], 'running', {
        compensate: 'completed',
        round: 2,
        forward: [[1, 2, 'completed']],
        undo: [[...undo, 'completed']],
      })
      const second = {
        direction: 'forward',
        round: 2,
        attempt: 1,
        startAt: T0 + 20_000,
        ended: 'running',
      } as const
      return { ...first, known: [...first.known, second] }
    }
    const kept = step('kept', [], 'completed', { forward: [[1, 2, 'completed']] })
    const { stoppedAt: _, drainedAt: __, ...rest } = undone
    const run: ViewRun = {
      ...rest,
      finishedAt: undefined,
      status: 'running',
      rounds: 2,
      steps: [again('a', [5, 6]), kept],
    }
    expect([1.5, 5.5, 10, 19, 25].map((seconds) => at(run, 'a', seconds))).toEqual([
      ...['running', 'completed, undoing', 'completed, undone', 'completed, undone', 'running'],
    ])
    expect(at(run, 'kept', 25)).toBe('completed')
    expect(undoOrder(run, 1).map((place) => place.step.name)).toEqual(['a'])
    expect(undoOrder(run)).toEqual([])
  })
})

it('undoes in the order of time, and what has not begun in reverse order of the graph', () => {
  const names = (run: ViewRun) => undoOrder(run).map(({ number, step: one }) => `${number} ${one.name}`)
  expect(names(undone)).toEqual(['1 notifyWarehouse', '2 packItem', '3 chargeCard', '4 reserveStock'])
  expect(names(parked)).toEqual(names(undone))
  expect(names(completed)).toEqual([])
})

describe('what an undo would cover', () => {
  it('is what has completed and can be undone, the last first', () => {
    const names = wouldUndo(parked, T0 + 30_000).map((place) => place.step.name)
    expect(names).toEqual(['packItem', 'chargeCard', 'reserveStock'])
  })

  it('counts the items of a map that have completed', () => {
    const [first] = wouldUndo(mapped, mapped.readAt)
    expect([first!.step.name, first!.items]).toEqual([
      'importCity',
      mapped.steps[1]!.items!.statuses.completed,
    ])
  })

  it('is nothing after the pivot, and for a child that keeps its effects', () => {
    const steps = (over: object) => [
      { ...step('a', [], 'completed', { compensate: 'completed', forward: [[1, 2, 'completed']] }), ...over },
    ]
    expect(wouldUndo({ ...approval, steps: steps({}) }, approval.readAt).length).toBe(1)
    expect(wouldUndo({ ...approval, steps: steps({ pivot: true }) }, approval.readAt)).toEqual([])
    expect(wouldUndo({ ...approval, steps: steps({ kept: true }) }, approval.readAt)).toEqual([])
  })
})
