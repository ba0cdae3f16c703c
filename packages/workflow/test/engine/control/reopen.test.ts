import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  RUN_TRANSITIONS,
  type RunToChange,
  STEP_TRANSITIONS,
  type StepStatus,
  type StoredStep,
} from '../../../src/adapter/index.ts'
import { planRetryRun } from '../../../src/engine/control/reopen.ts'
import { planSkipStep } from '../../../src/engine/control/skip-step.ts'
import { FAILED, runToChange } from './run-to-change.ts'

/** Random graphs of runs that ended: nothing completed without what it depends on. */
const ended: fc.Arbitrary<RunToChange> = fc
  .array(
    fc.record({
      edges: fc.array(fc.nat(), { maxLength: 3 }),
      fate: fc.constantFrom<StepStatus[]>('completed', 'compensated', 'skipped', 'failed', 'cancelled'),
      fence: fc.nat({ max: 5 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) => {
    const went = new Set<number>()
    const facts = drawn.map(({ edges, fate, fence }, number) => {
      const dependsOn =
        number === 0 ? [] : [...new Set(edges.map((edge) => edge % number))].sort((a, b) => a - b)
      const could = dependsOn.every((dependency) => went.has(dependency))
      const status: StepStatus = could ? fate : 'cancelled'
      if (status === 'completed' || status === 'compensated' || status === 'skipped') went.add(number)
      const undoOf = status === 'compensated' ? ('completed' as const) : null
      return [`s${number}`, { status, fence, dependsOn, undoOf, failures: 2, losses: 1 }] as const
    })
    return runToChange(FAILED, Object.fromEntries(facts))
  })

describe('a retry of a run', () => {
  it('leaves a run that can continue, in which no kept step depends on a step that runs again', () => {
    fc.assert(
      fc.property(ended, (found) => {
        const plan = planRetryRun(found)
        const rows = found.steps.map((step) => plan.steps.find((other) => other.step === step.step) ?? step)
        const satisfied = (step: StoredStep) => step.status === 'completed' || step.status === 'skipped'
        for (const [number, row] of rows.entries()) {
          const { dependsOn } = found.shape.steps[number]!
          const open = dependsOn.filter((dependency) => !satisfied(rows[dependency]!)).length
          if (satisfied(row)) expect(open).toBe(0)
          else expect(row).toMatchObject({ openDependencies: open, status: open === 0 ? 'ready' : 'pending' })
        }
        const dependedOn = new Set(found.shape.steps.flatMap(({ dependsOn }) => dependsOn))
        const openSinks = rows.filter((row, number) => !dependedOn.has(number) && !satisfied(row)).length
        expect(plan.run.openSteps).toBe(openSinks)
        expect(plan.run.status).toBe(openSinks === 0 ? 'completed' : 'running')
        expect(plan.queue.map(({ step }) => step)).toEqual(
          rows.filter(({ status }) => status === 'ready').map(({ step }) => step),
        )
      }),
    )
  })

  it('never uses a fence twice, and begins a round where an effect was undone', () => {
    fc.assert(
      fc.property(ended, (found) => {
        for (const step of planRetryRun(found).steps) {
          const before = found.steps[step.step]!
          expect(step.fence).toBeGreaterThan(before.fence)
          const { round, attempts } = before
          if (before.status === 'compensated') expect(step).toMatchObject({ round: round + 1, attempts: 0 })
          if (before.status === 'failed' && found.shape.steps[step.step]!.dependsOn.length === 0) {
            expect(step).toMatchObject({ round, attempts })
          }
          expect(step).toMatchObject({ failures: 0, losses: 0, workerId: null, undoOf: null, undo: null })
        }
      }),
    )
  })

  it('changes statuses only as the table of lifecycles allows', () => {
    fc.assert(
      fc.property(ended, (found) => {
        const plan = planRetryRun(found)
        expect(RUN_TRANSITIONS[found.run.status]).toContain(plan.run.status)
        for (const { step, status } of plan.steps) {
          expect(STEP_TRANSITIONS[found.steps[step]!.status]).toContain(status)
        }
      }),
    )
  })

  it('keeps a signal that was received, unless the step that took it failed', () => {
    const plan = planRetryRun(
      runToChange(FAILED, {
        kept: { status: 'cancelled', signalledAt: 5 },
        undone: { status: 'compensated', undoOf: 'completed', signalledAt: 6 },
        rejected: { status: 'failed', signalledAt: 7 },
      }),
    )

    expect(plan.steps).toMatchObject([
      { signalledAt: 5 },
      { signalledAt: 6 },
      { signalledAt: null, output: null },
    ])
    expect(plan.steps[0]).not.toHaveProperty('output')
    expect(plan.steps[1]).not.toHaveProperty('output')
  })

  it('drops a deadline that has passed, and keeps a future one', () => {
    const retried = (deadlineAt: number) =>
      planRetryRun(runToChange({ ...FAILED, deadlineAt }, { a: 'failed' })).run.deadlineAt

    expect(retried(9_999)).toBeNull()
    expect(retried(10_001)).toBe(10_001)
  })

  it.each(['running', 'paused', 'compensating', 'compensation_failed', 'completed'] as const)(
    'is refused while the run is %s',
    (status) => {
      expect(() => planRetryRun(runToChange({ ...FAILED, status }, { a: 'completed' }))).toThrow(
        /^Run run cannot be retried: /,
      )
    },
  )
})

describe('skipping the step that failed a run', () => {
  it('runs the rest of the run', () => {
    const found = runToChange(FAILED, {
      a: 'completed',
      b: { status: 'failed', dependsOn: [0] },
      c: { status: 'cancelled', dependsOn: [1] },
    })

    const plan = planSkipStep(found, 'b', '7')

    expect(plan.run).toMatchObject({ status: 'running', openSteps: 1, stop: null, cause: null })
    expect(plan.steps).toMatchObject([
      { name: 'c', status: 'ready' },
      { name: 'b', status: 'skipped', output: '7', finishedAt: 10_000 },
    ])
  })

  it('is possible even if the step was undone', () => {
    const found = runToChange(FAILED, { a: { status: 'compensated', undoOf: 'failed' } })

    const plan = planSkipStep(found, 'a', null)

    expect(plan.run.status).toBe('completed')
    expect(RUN_TRANSITIONS.failed).toContain('completed')
    expect(STEP_TRANSITIONS.compensated).toContain(plan.steps[0]!.status)
  })

  it('is refused for a step that was only cancelled', () => {
    const found = runToChange(FAILED, { a: 'failed', b: { status: 'cancelled', dependsOn: [0] } })

    expect(() => planSkipStep(found, 'b', null)).toThrow(
      /it is cancelled, and what failed is another step.*"a"/,
    )
  })
})
