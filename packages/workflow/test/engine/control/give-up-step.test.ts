import { expect, it } from 'vitest'
import { planGiveUpStep } from '../../../src/engine/control/give-up-step.ts'
import { runToChange } from './run-to-change.ts'

const stopped = { status: 'compensating', stop: 'failure', endsAs: 'compensated' } as const
const held = { status: 'compensating', workerId: 'worker', openDependencies: 0 } as const

it('a compensation that hangs is given up, and parks its run', () => {
  const plan = planGiveUpStep(runToChange(stopped, { a: { ...held, undoOf: 'completed' } }), 'a', 'it hangs')
  expect(plan.run.status).toBe('compensation_failed')
  expect(plan.steps).toMatchObject([{ name: 'a', status: 'compensation_failed', workerId: null }])
})

it('a relay cannot be given up, because it has no handler', () => {
  const found = runToChange(stopped, { a: { ...held, undoOf: 'skipped' } })
  expect(() => planGiveUpStep(found, 'a', 'it hangs')).toThrow(
    'it has nothing to undo, and no handler of it runs',
  )
})
