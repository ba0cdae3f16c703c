import type { RunChange, RunToChange, StepChange, StoredStep } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { divideSteps } from '../src/control/shift-steps.ts'

it('steps that change in the same way are shifted by ranges', () => {
  const found = [row(0, 'completed'), row(1), row(2), row(3), row(4, 'ready'), row(5, 'ready')]
  const held = found.slice(1).map((step) => ({ ...step, openDependencies: step.openDependencies + 1 }))

  expect(divide(found, held)).toEqual({
    shifts: [
      { first: 1, last: 3, status: 'pending', added: 1 },
      { first: 4, last: 5, status: 'ready', added: 1 },
    ],
    written: [],
  })
})

it('a range does not contain a step that does not change', () => {
  const found = [row(0), row(1, 'running'), row(2)]
  const held = [found[0]!, found[2]!].map((step) => ({ ...step, openDependencies: 1 }))

  expect(divide(found, held).shifts).toEqual([
    { first: 0, last: 0, status: 'pending', added: 1 },
    { first: 2, last: 2, status: 'pending', added: 1 },
  ])
})

it('steps that change in another way, and those that are due at an instant, are written whole', () => {
  const found = [row(0), row(1), row(2), { ...row(3), availableAt: 1 }]
  const changes: readonly StepChange[] = [
    { ...found[0]!, status: 'ready', fence: 1 },
    { ...found[1]!, status: 'skipped', output: '1' },
    { ...found[2]!, status: 'ready' },
    { ...found[3]!, status: 'ready' },
  ]

  expect(divide(found, changes)).toEqual({
    shifts: [{ first: 2, last: 2, status: 'ready', added: 0 }],
    written: [changes[0], changes[1], changes[3]],
  })
  expect(divide(found, changes, { definitionId: 2, reportsEnd: false, oldNumbers: [] })).toEqual({
    shifts: [],
    written: changes,
  })
})

function divide(
  steps: readonly StoredStep[],
  changes: readonly StepChange[],
  migration?: RunChange['migration'],
) {
  const found: Pick<RunToChange, 'steps'> = { steps }
  return divideSteps(found, { steps: changes, ...(migration === undefined ? {} : { migration }) })
}

function row(step: number, status: StoredStep['status'] = 'pending'): StoredStep {
  const attempts = { fence: 0, round: 1, attempts: 0, failures: 0, losses: 0, workerId: null }
  const undo = { undo: null, undoOf: null }
  const instants = {
    startedAt: null,
    finishedAt: null,
    availableAt: null,
    waitingSince: null,
    signalledAt: null,
  }
  const outcome = { failingSince: null, succeeded: false, branch: null }
  return {
    step,
    name: `s${step}`,
    status,
    openDependencies: 0,
    ...attempts,
    ...undo,
    ...instants,
    ...outcome,
  }
}
