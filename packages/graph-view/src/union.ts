import type { ViewStep } from './model.ts'

/** A step as far as two graphs are compared. */
export type GraphStep = Pick<
  ViewStep,
  'name' | 'kind' | 'dependsOn' | 'compensate' | 'pivot' | 'irreversible'
>

/** A step of two graphs, which one of them may lack. */
export interface UnitedStep<Step extends GraphStep = GraphStep> {
  readonly name: string
  readonly before: Step | undefined
  readonly after: Step | undefined
  /** On which it depends in either graph, without those that come later here: edges of both may form a circle. */
  readonly dependsOn: readonly string[]
  readonly changes: readonly GraphChange[]
  /** Two lines stand below its name, so it is as high as a map. */
  readonly items: true
}

export type GraphChange = 'added' | 'removed' | 'kind' | 'dependencies' | 'undo' | 'pivot' | 'irreversible'

/** The steps of both graphs, each in topological order: every step after all that it depends on in `after`, and in `before` where that is possible. */
export function unite<Step extends GraphStep>(
  before: readonly Step[],
  after: readonly Step[],
): readonly UnitedStep<Step>[] {
  const [old, now] = [byName(before), byName(after)]
  const placed = new Set<string>()
  const isPlaced = (step: Step | undefined) => step?.dependsOn.every((name) => placed.has(name)) ?? true
  const united: UnitedStep<Step>[] = []
  const place = (name: string) => {
    const [one, other] = [old.get(name), now.get(name)]
    const both = new Set([...(other?.dependsOn ?? []), ...(one?.dependsOn ?? [])])
    const dependsOn = [...both].filter((dependency) => placed.has(dependency))
    placed.add(name)
    united.push({ name, before: one, after: other, dependsOn, changes: changesOf(one, other), items: true })
  }
  let left = [...now.keys(), ...[...old.keys()].filter((name) => !now.has(name))]
  while (left.length > 0) {
    const count = united.length
    for (const name of left) if (isPlaced(old.get(name)) && isPlaced(now.get(name))) place(name)
    // A circle of edges of both: those of `after` hold.
    if (united.length === count)
      place(left.find((name) => now.has(name) && isPlaced(now.get(name))) ?? left[0]!)
    left = left.filter((name) => !placed.has(name))
  }
  return united
}

function byName<Step extends GraphStep>(steps: readonly Step[]): ReadonlyMap<string, Step> {
  return new Map(steps.map((step) => [step.name, step]))
}

function changesOf(before: GraphStep | undefined, after: GraphStep | undefined): readonly GraphChange[] {
  if (before === undefined) return ['added']
  if (after === undefined) return ['removed']
  const sorted = ({ dependsOn }: GraphStep) => JSON.stringify(dependsOn.toSorted())
  return [
    ...(before.kind === after.kind ? [] : (['kind'] as const)),
    ...(sorted(before) === sorted(after) ? [] : (['dependencies'] as const)),
    ...(before.compensate === after.compensate ? [] : (['undo'] as const)),
    ...(before.pivot === after.pivot ? [] : (['pivot'] as const)),
    ...(before.irreversible === after.irreversible ? [] : (['irreversible'] as const)),
  ]
}
