import type { Adapter, Outcome } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { simulate } from '../../src/simulation/index.ts'
import { violationsLike, withVerbs } from './sabotage.ts'

/** Only worlds of seeds that end in 4 are about families. */
const WORLDS = Array.from({ length: 30 }, (_, n) => 10 * n + 4)

/** What happens to families in these worlds. */
const FACTS = [
  'a run is abandoned while its child is being started',
  'a family that waits for itself is found',
  'operator: pause on a child',
  ...['pause', 'resume', 'cancel', 'retry', 'retryStep', 'skipStep', 'migrateRun'].map(
    (name) => `operator: ${name} with child compensate: false`,
  ),
  ...['retryMany', 'resumeMany', 'pauseMany', 'cancelMany without an undo'].map(
    (name) => `operator: ${name}`,
  ),
]

it('operators act on parents and children, whose effects are sometimes kept and whose limit is shared', async () => {
  const seen = new Set<string>()
  const missing = () => FACTS.filter((fact) => !seen.has(fact))
  for (const seed of WORLDS) {
    if (missing().length === 0) break
    const { calls, violations } = await simulate({ seed })
    for (const call of Object.keys(calls)) seen.add(call)
    expect(violations).toEqual([])
  }
  expect(missing()).toEqual([])
})

it('the oracle notices a store that starts a child after its parent’s step was taken away', async () => {
  const wanted = /was started as a child of run .*, which had ended/
  const violations = await violationsLike(wanted, 74, unfenced, WORLDS)
  expect(violations.join()).toMatch(wanted)
})

it('the oracle notices a store that says of a kept child that it was undone', async () => {
  const wanted = /undo recorded: false, owed: true/
  const violations = await violationsLike(wanted, 414, unkept, WORLDS)
  expect(violations.join()).toMatch(wanted)
})

it('a family that waits for itself stays stuck if the doctor does not find it', async () => {
  const wanted = /is stuck in/
  const blind = (store: Adapter) => withVerbs(store, { readLimitCircles: async () => [] })
  const violations = await violationsLike(wanted, 14, blind, WORLDS)
  expect(violations.join()).toMatch(wanted)
})

function unfenced(store: Adapter): Adapter {
  return withVerbs(store, {
    startRuns: (runs, options) =>
      store.startRuns(
        runs.map(({ parentFence: _, ...run }) => run),
        options,
      ),
  })
}

function unkept(store: Adapter): Adapter {
  return withVerbs(store, {
    settle: (request) => store.settle({ ...request, outcomes: request.outcomes.map(undone) }),
  })
}

function undone(outcome: Outcome): Outcome {
  if (outcome.type !== 'relayed') return outcome
  const { undoOf: _, joins: __, ...others } = outcome
  return { ...others, type: 'compensated' }
}
