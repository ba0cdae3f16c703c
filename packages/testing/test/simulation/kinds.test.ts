import { defineGraph } from '@belay/workflow'
import { STEP_KINDS } from '@belay/workflow/adapter'
import { expect, test } from 'vitest'
import { GRAPHS } from '../../src/conformance/differential/graphs.ts'
import { randomPlan } from '../../src/simulation/plan.ts'
import { Random } from '../../src/simulation/random.ts'

const KINDS = Object.keys(STEP_KINDS).sort()

test('simulated workflows have steps of every kind', () => {
  const shapes = Array.from({ length: 100 }, (_, seed) => {
    const plan = randomPlan(new Random(seed), 'w', 'child')
    return defineGraph('w', plan.versions[0]!).record.shape
  })

  expect(kindsOf(shapes)).toEqual(KINDS)
  const families = shapes.flatMap(({ steps }) => steps.filter(({ children }) => children === true))
  const [fans, loops] = ['map', 'repeat'].map((kind) => families.filter((step) => step.kind === kind))
  for (const found of [fans!, loops!]) {
    expect(new Set(found.map(({ onFailure }) => onFailure))).toEqual(new Set([undefined, 'continue']))
  }
})

test('the definitions of the differential test have steps of every kind', () => {
  expect(kindsOf(GRAPHS.map(({ shape }) => shape))).toEqual(KINDS)
})

function kindsOf(
  shapes: readonly { readonly steps: readonly { readonly kind?: string | undefined }[] }[],
): readonly string[] {
  return [...new Set(shapes.flatMap(({ steps }) => steps.map(({ kind }) => kind ?? 'work')))].sort()
}
