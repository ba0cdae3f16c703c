import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DefinitionShape, DrainedRun, StepShape, UndoPlan } from '../../src/adapter/index.ts'
import { define } from '../../src/definition/index.ts'
import { owesUndo, planUndo } from '../../src/engine/decisions/plan-undo.ts'
import type { StepGraph } from '../../src/graph/index.ts'

interface Case {
  readonly shape: DefinitionShape
  readonly steps: DrainedRun['steps']
}

/** A random graph and what became of its steps; a step can only have started when all it depends on completed or was skipped. */
const cases: fc.Arbitrary<Case> = fc
  .array(
    fc.record({
      edges: fc.array(fc.nat(), { maxLength: 3 }),
      compensate: fc.constantFrom<StepShape['compensate'][]>('never', 'completed', 'started'),
      fate: fc.constantFrom('completed', 'completed', 'completed', 'skipped', 'failed', 'cancelled'),
      started: fc.boolean(),
      succeeded: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) => {
    const shapes = drawn.map(({ edges, compensate }, number) => ({
      name: `s${number}`,
      dependsOn: number === 0 ? [] : [...new Set(edges.map((edge) => edge % number))].sort((a, b) => a - b),
      compensate,
    }))
    const steps: DrainedRun['steps'][number][] = []
    for (const [number, { fate, started, succeeded }] of drawn.entries()) {
      const open = shapes[number]!.dependsOn.some((n) => !['completed', 'skipped'].includes(steps[n]!.status))
      if (open) steps.push({ step: number, status: 'cancelled', started: false })
      else
        steps.push({
          step: number,
          status: fate as 'completed',
          started: fate !== 'skipped' && (fate !== 'cancelled' || started),
          succeeded: succeeded && (fate !== 'cancelled' || started),
        })
    }
    return { shape: { steps: shapes }, steps }
  })

function graphOf({ steps }: DefinitionShape): StepGraph {
  const dependencies = steps.map(({ dependsOn }) => dependsOn)
  return {
    size: steps.length,
    names: steps.map(({ name }) => name),
    dependencies,
    dependents: steps.map((_, number) =>
      steps.flatMap((step, n) => (step.dependsOn.includes(number) ? [n] : [])),
    ),
    roots: steps.flatMap(({ dependsOn }, number) => (dependsOn.length === 0 ? [number] : [])),
    numberOf: (name) => steps.findIndex((step) => step.name === name),
  }
}

function plan({ shape, steps }: Case, stop: DrainedRun['stop'] = 'failure'): UndoPlan {
  return planUndo(graphOf(shape), shape, { runId: 'r', definitionId: 1, stop, steps })
}

function descendants(graph: StepGraph, number: number): Set<number> {
  return new Set(graph.dependents[number]!.flatMap((n) => [n, ...descendants(graph, n)]))
}

/** Follows a plan the way a store does; returns the order in which the undos ended. */
function follow(graph: StepGraph, { undos }: UndoPlan): number[] {
  const open = new Map(undos.map(({ step, openDependents }) => [step, openDependents]))
  const ended: number[] = []
  for (;;) {
    const next = [...open].find(([, count]) => count === 0)
    if (next === undefined) return ended
    open.delete(next[0])
    ended.push(next[0])
    for (const n of graph.dependencies[next[0]]!) if (open.has(n)) open.set(n, open.get(n)! - 1)
  }
}

describe('the plan of an undo', () => {
  it('holds exactly the steps that owe an undo, and relays only between two of them', () => {
    fc.assert(
      fc.property(cases, (drawn) => {
        const graph = graphOf(drawn.shape)
        const owed = drawn.steps.filter((step, n) => owesUndo(step, drawn.shape.steps[n]!.compensate))
        const planned = plan(drawn).undos.map(({ step }) => step)
        for (const { step } of owed) expect(planned).toContain(step)
        for (const relay of planned.filter((n) => !owed.some(({ step }) => step === n))) {
          expect(owed.some(({ step }) => descendants(graph, relay).has(step))).toBe(true)
          expect(owed.some(({ step }) => descendants(graph, step).has(relay))).toBe(true)
        }
      }),
    )
  })

  it('undoes every step after its dependents', () => {
    fc.assert(
      fc.property(cases, (drawn) => {
        const graph = graphOf(drawn.shape)
        const planned = plan(drawn)

        const ended = follow(graph, planned)

        expect([...ended].sort()).toEqual(planned.undos.map(({ step }) => step).sort())
        for (const [position, step] of ended.entries()) {
          const later = ended.slice(position + 1)
          expect(later.filter((n) => descendants(graph, step).has(n))).toEqual([])
        }
      }),
    )
  })

  it('ends the run with the status that its stop demands', () => {
    const nothing: Case = {
      shape: { steps: [{ name: 'a', dependsOn: [], compensate: 'never' }] },
      steps: [{ step: 0, status: 'completed', started: true }],
    }
    const something: Case = {
      shape: { steps: [{ name: 'a', dependsOn: [], compensate: 'completed' }] },
      steps: [{ step: 0, status: 'completed', started: true }],
    }

    expect(plan(nothing).endsAs).toBe('failed')
    expect(plan(something).endsAs).toBe('compensated')
    expect(plan(nothing, 'cancellation').endsAs).toBe('cancelled')
    expect(plan(something, 'cancellation').endsAs).toBe('cancelled')
  })

  it('is fast for a chain and for two joined fans of 10,000 steps', () => {
    const size = 10_001
    const middle = 5_000
    const steps: StepShape[] = Array.from({ length: size }, (_, n) => ({
      name: `s${n}`,
      dependsOn: n < middle ? [] : n === middle ? Array.from({ length: middle }, (_, m) => m) : [middle],
      compensate: n === middle ? 'never' : 'completed',
    }))
    const dependents = steps.map((_, n) =>
      n < middle
        ? [middle]
        : n === middle
          ? Array.from({ length: size - middle - 1 }, (_, m) => middle + 1 + m)
          : [],
    )
    const graph = {
      size,
      names: steps.map(({ name }) => name),
      dependencies: steps.map(({ dependsOn }) => dependsOn),
      dependents,
      roots: [0],
      numberOf: () => undefined,
    }
    const run: DrainedRun = {
      runId: 'r',
      definitionId: 1,
      stop: 'failure',
      steps: steps.map((_, step) => ({ step, status: 'completed', started: true })),
    }

    const { undos } = planUndo(graph, { steps }, run)

    expect(undos).toHaveLength(size)
    expect(undos[middle]).toEqual({ step: middle, openDependents: size - middle - 1 })
    expect(undos[0]).toEqual({ step: 0, openDependents: 1 })
  })
})

describe('a step with a when', () => {
  const chain = define('w', { version: 1 })
    .step('first', { run: () => 1, compensate: () => {} })
    .step('asked', {
      dependsOn: ['first'],
      when: () => true,
      run: () => 2,
      compensate: () => {},
      compensateOn: 'started',
    })
  const undosOf = (decided: boolean) =>
    planUndo(chain.graph, chain.record.shape, {
      runId: 'r',
      definitionId: 1,
      stop: 'failure',
      steps: [
        { step: 0, status: 'completed', started: true },
        { step: 1, status: 'failed', started: true, decided },
      ],
    }).undos.map(({ step }) => step)

  it('owes nothing if it failed before it was decided that it runs', () => {
    expect(undosOf(false)).toEqual([0])
  })

  it('is undone like any other once it was decided that it runs', () => {
    expect(undosOf(true)).toEqual([0, 1])
  })
})
