import { defineGraph } from '@belay/workflow'
import { STEP_KINDS } from '@belay/workflow/adapter'
import { expect, test } from 'vitest'
import { GRAPHS } from '../../src/conformance/differential/graphs.ts'
import { combinationsOf, featuresOf } from '../../src/simulation/features.ts'
import { randomPlan } from '../../src/simulation/plan.ts'
import { Random } from '../../src/simulation/random.ts'

/** How many plans are drawn before it is looked what is missing, and at most. */
const [PLANS_AT_ONCE, PLANS_MAX] = [5_000, 60_000]

/** Two steps that are decided by how others ended. Each is drawn, but not every two of them within a reasonable time. */
const RARE = /(cases|fallback) after .*(cases|fallback)$/

/** Each option with the kinds of steps that may have it. */
const OPTIONS = {
  cases: ['child', 'child loop', 'choice', 'fan', 'loop', 'map', 'step', 'wait'],
  collect: ['fan', 'map'],
  compensate: ['loop', 'map', 'step'],
  'compensate: false': ['child', 'child loop', 'fan'],
  compensateAll: ['map'],
  'compensateOn started': ['loop', 'map', 'step'],
  concurrency: ['fan', 'map'],
  continue: ['child', 'child loop', 'loop', 'step', 'wait'],
  detached: ['child', 'child loop', 'fan'],
  fallback: ['child', 'child loop', 'choice', 'fan', 'loop', 'map', 'step', 'wait'],
  itemKey: ['map'],
  minSuccess: ['fan', 'map'],
  'onSkipped run': ['child', 'child loop', 'choice', 'fan', 'loop', 'map', 'step', 'wait'],
  transaction: ['loop', 'map', 'step'],
  when: ['child', 'child loop', 'choice', 'fan', 'loop', 'map', 'step', 'wait'],
}

const FEATURES = [
  ...['approval', 'child', 'child loop', 'choice', 'fan', 'loop', 'map', 'poll', 'signal', 'sleep', 'step'],
  ...Object.entries(OPTIONS).flatMap(([option, kinds]) => kinds.map((kind) => `${kind} ${option}`)),
].sort()

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

test('simulated workflows combine everything that a step may be with everything that one before it may be', () => {
  const features = new Set<string>()
  const drawn = new Set<string>()
  const missing = () =>
    [...features].flatMap((own) =>
      [...[...features].map((other) => `after ${other}`), 'beside end steps', 'beside a pivot']
        .map((other) => `${own} ${other}`)
        .filter((combination) => !drawn.has(combination) && !RARE.test(combination)),
    )

  for (let seed = 0; seed < PLANS_MAX; seed += 1) {
    if (seed > 0 && seed % PLANS_AT_ONCE === 0 && missing().length === 0) break
    const [version] = randomPlan(new Random(seed), 'w', 'child').versions
    for (const feature of featuresOf(version!)) features.add(feature)
    for (const combination of combinationsOf(version!)) drawn.add(combination)
  }

  expect(missing()).toEqual([])
  expect([...features].sort()).toEqual(FEATURES)
})

test('the definitions of the differential test have steps of every kind', () => {
  expect(kindsOf(GRAPHS.map(({ shape }) => shape))).toEqual(KINDS)
})

function kindsOf(
  shapes: readonly { readonly steps: readonly { readonly kind?: string | undefined }[] }[],
): readonly string[] {
  return [...new Set(shapes.flatMap(({ steps }) => steps.map(({ kind }) => kind ?? 'work')))].sort()
}
