import { isItem, mapOf } from './item-numbers.ts'
import type { DefinitionShape, StepShape } from './records.ts'

/**
 * The shape of one run with its items: each item depends on its `map`, and the `join` on every item. The rounds of a loop are a chain from its
 * `repeat` to its `join`. Its steps are in topological order, like those of a definition, so that whatever decides on a shape can decide on this
 * one. A row's place in it differs from its number.
 */
export interface PlacedShape {
  readonly shape: DefinitionShape
  /** The number of the row in each place. */
  readonly numbers: readonly number[]
}

/** Places the rows of a run. Null if the run has no items: then each row's place is its number. */
export function placeRows(
  { steps }: DefinitionShape,
  rows: readonly { readonly step: number; readonly name?: string }[],
): PlacedShape | null {
  if (rows.length === steps.length) return null
  const items = new Map<number, { readonly step: number; readonly name?: string }[]>()
  for (const row of rows) {
    if (!isItem(row.step)) continue
    const siblings = items.get(mapOf(row.step))
    if (siblings === undefined) items.set(mapOf(row.step), [row])
    else siblings.push(row)
  }
  const placed: StepShape[] = []
  const numbers: number[] = []
  const placeOf: number[] = []
  const itemPlaces = new Map<number, readonly number[]>()
  steps.forEach((step, number) => {
    placeOf[number] = placed.length
    numbers.push(number)
    const own = step.kind === 'join' ? (itemPlaces.get(step.dependsOn[0]!) ?? []) : []
    const dependsOn = [...step.dependsOn.map((dependency) => placeOf[dependency]!), ...own]
    const opens = step.kind === 'map' || step.kind === 'repeat'
    placed.push(opens ? openerAlone(step, dependsOn) : { ...step, dependsOn })
    const added = items.get(number) ?? []
    const places = added.map((_, index) => placed.length + index)
    itemPlaces.set(number, step.kind === 'repeat' ? places.slice(-1) : places)
    // Nothing decides about one item: it has neither the map's condition nor its kind.
    const { onFailure } = step
    const kind = step.children ? ('child' as const) : undefined
    const compensate = step.compensateAll ? 'never' : step.compensate
    added.forEach((row, index) => {
      const before = step.kind === 'repeat' && index > 0 ? places[index - 1]! : placeOf[number]!
      placed.push({ name: row.name ?? step.name, dependsOn: [before], compensate, kind, onFailure })
      numbers.push(row.step)
    })
  })
  return { shape: { steps: placed }, numbers }
}

/** The step that decides the items or begins the rounds, without what the shape says about each item. */
function openerAlone(step: StepShape, dependsOn: readonly number[]): StepShape {
  const compensate = step.compensateAll ? step.compensate : 'never'
  return { ...step, dependsOn, compensate, onFailure: step.kind === 'map' ? undefined : step.onFailure }
}

/** Whether a run goes on past the failure of this step. Of a map, what its shape says is about its items; of a loop, also about its beginning. */
export function continuesPast({ kind, onFailure }: StepShape): boolean {
  return onFailure === 'continue' && kind !== 'map'
}

/** The edges of a shape, in both directions. */
export function edgesOf({ steps }: DefinitionShape): {
  readonly dependencies: readonly (readonly number[])[]
  readonly dependents: readonly (readonly number[])[]
} {
  const dependents: number[][] = steps.map(() => [])
  steps.forEach(({ dependsOn }, number) => {
    for (const dependency of dependsOn) dependents[dependency]!.push(number)
  })
  return { dependencies: steps.map(({ dependsOn }) => dependsOn), dependents }
}
