import { describe, expect, it } from 'vitest'
import { featuresMet, SIGHTINGS } from '../src/load/features.ts'
import { Hands } from '../src/load/hands.ts'
import { drawInput } from '../src/load/input.ts'
import { expectedOf } from '../src/load/model.ts'
import { planOf } from '../src/load/plan.ts'
import { rulesOf } from '../src/load/rules.ts'
import { makeWorkflows } from '../src/load/workflows.ts'
import { Random } from '../src/random.ts'
import { World } from '../src/world/world.ts'

const inputs = Array.from({ length: 120 }, (_, lot) =>
  drawInput(new Random(lot), { accounts: 8, lot, isPlanned: true }),
)

describe('the load', () => {
  it('does everything within a few lots', () => {
    const few = inputs.slice(8, 32).map(planOf)

    const met = (fits: (plan: (typeof few)[number]) => boolean) => few.filter(fits).length
    expect(met(({ isRetried }) => isRetried)).toBeGreaterThan(0)
    expect(met(({ declines, returns }) => declines && returns)).toBeGreaterThan(0)
    expect(met(({ afterPivot, returns }) => afterPivot === 'is skipped' && !returns)).toBeGreaterThan(0)
    expect(met(({ afterPivot, returns }) => afterPivot === 'is retried' && !returns)).toBeGreaterThan(0)
  })

  it('has rules only for steps that its workflows have', () => {
    const workflows = makeWorkflows(new Hands(new World('postgres://nobody@localhost:1/none', 'test')))
    const rules = rulesOf(workflows)
    const names = new Set(
      Object.values(workflows).flatMap((workflow) => [
        ...workflow.graph.names,
        ...(workflow.followUp?.graph.names ?? []),
      ]),
    )

    const ofRules = [
      ...Object.values(rules.effectSteps).flat(),
      ...Object.values(rules.limits).map(({ step }) => step),
      ...Object.values(rules.pivots),
      ...Object.keys(rules.children),
      ...Object.values(rules.ends).flatMap(Object.keys),
      ...Object.values(rules.values),
      ...inputs.flatMap((input) =>
        ['gallery', 'checkout', 'delivery'].flatMap((workflow) =>
          Object.keys(expectedOf({ workflow, input }) ?? {}).filter((name) => !name.includes('[')),
        ),
      ),
    ]
    expect(ofRules.filter((name) => !names.has(name))).toEqual([])
  })

  it('counts effects by step and direction, and sightings by name', () => {
    const met = featuresMet([
      { what: 'fetch', undo: false, count: 3 },
      { what: 'fetch', undo: true, count: 2 },
      { what: SIGHTINGS.paused, undo: false, count: 4 },
    ])

    expect(met).toMatchObject({ 'rounds of loops': 3, 'rounds undone': 2, pauses: 4, pivots: 0 })
  })
})
