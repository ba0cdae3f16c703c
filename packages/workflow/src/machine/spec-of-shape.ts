import type { DefinitionShape, StepShape } from '../adapter/records.ts'
import { skippableSteps } from '../graph/skippable.ts'
import { child } from './kinds/child.ts'
import { type GraphSpec, graph, type StepSpec } from './kinds/graph.ts'
import { loop } from './kinds/loop.ts'
import { type MapSpec, map } from './kinds/map.ts'
import { signal } from './kinds/signal.ts'
import { sleep } from './kinds/sleep.ts'
import { work } from './kinds/work.ts'
import type { Kind, Spec } from './state.ts'

const known = new WeakMap<DefinitionShape, GraphSpec>()

/** The machine’s definition of a stored shape. A map or a loop, which a shape has as two steps, is one unit, by the name that people use. Kept by shape. */
export function specOfShape(shape: DefinitionShape): GraphSpec {
  const kept = known.get(shape)
  if (kept !== undefined) return kept
  const made = read(shape)
  known.set(shape, made)
  return made
}

function read(shape: DefinitionShape): GraphSpec {
  const { steps } = shape
  const skippable = skippableSteps(shape)
  const openers = new Set(steps.flatMap(({ kind, dependsOn }) => (kind === 'join' ? [dependsOn[0]!] : [])))
  const drafts = steps.flatMap((step, number) => {
    if (openers.has(number)) return []
    const place = step.kind === 'join' ? step.dependsOn[0]! : number
    const written = steps[place]!
    const dependsOn = written.dependsOn.map((each) => steps[each]!.name)
    return [
      { spec: specOfStep(step.name, written), cases: casesOf(written), dependsOn, step, written, place },
    ]
  })
  const after = drafts.map(({ dependsOn, cases }) => [...new Set([...dependsOn, ...Object.keys(cases)])])
  const next = new Map<string, string[]>(drafts.map(({ step }) => [step.name, []]))
  for (const [index, { step }] of drafts.entries())
    for (const name of after[index]!) next.get(name)!.push(step.name)
  const made = drafts.map(
    ({ spec, cases, step, written, place }, index): StepSpec => ({
      ...spec,
      ...{ index, after: after[index]!, next: next.get(step.name)! },
      ...(Object.keys(cases).length === 0 ? {} : { cases }),
      ...(written.onSkipped === undefined ? {} : { onSkipped: written.onSkipped }),
      // Of a map it is about its items.
      ...(written.onFailure === undefined || written.kind === 'map' ? {} : { onFailure: written.onFailure }),
      ...(step.pivot === true ? { pivot: true } : {}),
      ...(skippable[place] === true ? { skippable: true } : {}),
    }),
  )
  const batch = shape.collects === 'batch' ? { batch: true as const } : {}
  return {
    of: graph,
    name: 'root',
    ...batch,
    steps: made,
    byName: new Map(made.map((step) => [step.name, step])),
  }
}

function casesOf({ when }: StepShape): Readonly<Record<string, readonly string[]>> {
  if (when === undefined || when === 'function') return {}
  return Object.fromEntries(when.map(({ choice, cases }) => [choice, cases]))
}

const KINDS: Readonly<Record<NonNullable<StepShape['kind']> | 'work', Kind | undefined>> = {
  work,
  choose: work,
  poll: work,
  sleep,
  signal,
  approval: signal,
  child,
  map,
  repeat: loop,
  join: undefined,
}

function specOfStep(name: string, step: StepShape): Spec {
  const { kind = 'work', compensate, compensateAll, irreversible, when, onFailure, children } = step
  const of = KINDS[kind]!
  const own = {
    of,
    name,
    ...(when === 'function' ? { when: true as const } : {}),
    ...(irreversible === true ? { irreversible } : {}),
  }
  const undo = compensate === 'never' ? {} : { compensate }
  // A child that shares nothing with its parent is stored so.
  if (of === child) return { ...own, ...(compensate === 'never' ? { detached: true } : {}) } as Spec
  if (of !== map && of !== loop)
    return { ...own, ...undo, ...(kind === 'choose' ? { chooses: true } : {}) } as Spec
  const isWhole = compensateAll === true
  const each =
    children === true
      ? ({ of: child, name, ...(compensate === 'never' ? { detached: true } : {}) } as Spec)
      : { of: work, name, ...(isWhole ? {} : undo) }
  const collects = of === map && onFailure === 'continue' ? { collects: true } : {}
  return { ...own, ...(isWhole ? undo : {}), each, ...collects } as MapSpec
}
