import { type GraphSpec, graph, type StepSpec } from '../../src/machine/kinds/graph.ts'
import { work } from '../../src/machine/kinds/work.ts'
import type { Spec } from '../../src/machine/state.ts'
import { graphOf } from './definitions.ts'
import type { Random } from './random.ts'

type Draft = Omit<StepSpec, 'index' | 'next' | 'after'> & { readonly dependsOn: readonly string[] }

/** Another version of a definition: one step more, or one less. Undefined of a root that is no graph. */
export function nextVersion(random: Random, spec: Spec, name: string): GraphSpec | undefined {
  if (spec.of !== graph) return undefined
  const drafts = (spec as GraphSpec).steps.map(
    ({ index: _index, next: _next, after, ...step }): Draft => ({ ...step, dependsOn: after }),
  )
  const last = (spec as GraphSpec).steps.filter(({ next }) => next.length === 0)
  if (random.chance(0.4) && drafts.length > 1) {
    const gone = random.pick(last)
    return graphOf(drafts.filter((step) => step.name !== gone.name))
  }
  return graphOf(withStep(random, drafts, name))
}

/** The new step comes before a random one, with what that comes after. A pivot comes before or after each step. */
function withStep(random: Random, drafts: readonly Draft[], name: string): readonly Draft[] {
  const place = random.upto(drafts.length + 1)
  const pivot = drafts.findIndex((step) => step.pivot === true)
  const needs = drafts.slice(0, place).filter((_, index) => index === pivot || random.chance(0.4))
  const added: Draft = {
    ...{ of: work, name, dependsOn: needs.map((step) => step.name) },
    ...(random.chance(0.5) ? { compensate: 'completed' } : {}),
  }
  const after = drafts.slice(place).map((step, index) => {
    const isNeeded = step.pivot === true || (index === 0 && place > pivot)
    return isNeeded ? { ...step, dependsOn: [...step.dependsOn, name] } : step
  })
  return [...drafts.slice(0, place), added, ...after]
}
