import { HELD_TURNS, isItem, itemIndex, type RunChange, type StepPayloads } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import { violationsLike, withVerbs } from './sabotage.ts'

describe('the oracle notices a store', () => {
  it('that forgets an item when all items of its map are undone at once', async () => {
    const wanted = /the effect \S+\[\S+\] of step \S+ \(completed\) exists/
    const violations = await violationsLike(wanted, 30, (store) =>
      withVerbs(store, {
        load: async (requests) =>
          (await store.load(requests)).map((run) => ({ ...run, steps: run.steps.map(withoutSecondItem) })),
      }),
    )
    expect(violations.join()).toMatch(wanted)
  })

  it('that forgets in which order the items of a retried map begin', async () => {
    const wanted = /map_keeps_its_limit|map_wastes_no_turn/
    const violations = await violationsLike(wanted, 717, (store) =>
      withVerbs(store, {
        changeRun: (request) =>
          store.changeRun({
            ...request,
            decide: (found) => {
              const decided = request.decide(found)
              return { ...decided, change: decided.change && withoutOrder(decided.change) }
            },
          }),
      }),
    )
    expect(violations.join()).toMatch(wanted)
  })

  it('that gives the turns of items while their run is paused', async () => {
    const wanted = /turns_are_held_in_a_paused_run_alone/
    const violations = await violationsLike(wanted, 23, (store) =>
      withVerbs(store, {
        changeRun: (request, options) =>
          store.changeRun(
            {
              ...request,
              decide: (found) => {
                const decided = request.decide(found)
                return { ...decided, change: decided.change && withoutHold(decided.change) }
              },
            },
            options,
          ),
      }),
    )
    expect(violations.join()).toMatch(wanted)
  })
})

/** An item that was to be undone with the others, as if it had been skipped. */
function withoutSecondItem(step: StepPayloads): StepPayloads {
  const isSecond = isItem(step.step) && itemIndex(step.step) === 1
  return isSecond && step.undoneStatus === 'completed' ? { ...step, undoneStatus: 'skipped' } : step
}

function withoutOrder(change: RunChange): RunChange {
  const steps = change.steps.map((step) =>
    step.turns === undefined ? step : { ...step, turns: { ...step.turns, order: null } },
  )
  return { ...change, steps }
}

function withoutHold(change: RunChange): RunChange {
  const steps = change.steps.map((step) => {
    const { turns } = step
    const isHeld = turns !== undefined && turns.nextItem >= HELD_TURNS
    return isHeld ? { ...step, turns: { ...turns, nextItem: turns.nextItem - HELD_TURNS } } : step
  })
  return { ...change, steps }
}
