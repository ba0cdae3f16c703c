import { isItem, itemIndex, mapOf, type NewItem, type StepShape, templateOf } from '@belay/workflow/adapter'
import type { RunRow, StepRow } from './rows.ts'

/** A row of a run: a step, or an item of a map. */
export function rowOf(run: RunRow, number: number): StepRow | undefined {
  return isItem(number) ? run.items.get(number) : run.steps[number]
}

/** All rows of a run, ascending by number. */
export function rowsOf(run: RunRow): readonly StepRow[] {
  if (run.items.size === 0) return run.steps
  return [...run.steps, ...[...run.items.values()].sort((one, other) => one.step - other.step)]
}

function shapeOf(run: RunRow, number: number): StepShape {
  return run.definition.saved.shape.steps[templateOf(number)]!
}

/** The name of a step; of an item, its map's with its key. */
export function nameOf(run: RunRow, { step, item }: Pick<StepRow, 'step' | 'item'>): string {
  if (item === null) return shapeOf(run, step).name
  return `${shapeOf(run, joinOf(run, mapOf(step))).name}[${item.key}]`
}

/** The number of the step that joins a map's items. */
export function joinOf({ definition }: RunRow, map: number): number {
  return definition.dependents[map]![0]!
}

/** The number of the step that decides the items which this step joins. Undefined for a step that joins none. */
export function openerOf(run: RunRow, number: number): number | undefined {
  const { kind, dependsOn } = shapeOf(run, number)
  return kind === 'join' ? dependsOn[0] : undefined
}

/** The numbers of the rows that wait for this one while the run goes forward. A map's items do not wait: they come when it completes. */
export function dependentsOf(run: RunRow, number: number): readonly number[] {
  return isItem(number) ? [joinOf(run, mapOf(number))] : run.definition.dependents[number]!
}

/** The numbers of the rows whose undo waits for the undo of this one. */
export function dependenciesOf(run: RunRow, number: number): readonly number[] {
  if (isItem(number)) return [roundBefore(run, number) ?? mapOf(number)]
  const { kind, dependsOn } = shapeOf(run, number)
  if (kind !== 'join') return dependsOn
  const items = [...run.items.keys()].filter((item) => mapOf(item) === dependsOn[0])
  return [...dependsOn, ...(shapeOf(run, dependsOn[0]!).kind === 'repeat' ? items.slice(-1) : items)]
}

/** The round of a loop before this one. */
function roundBefore(run: RunRow, number: number): number | undefined {
  return shapeOf(run, number).kind === 'repeat' && itemIndex(number) > 0 ? number - 1 : undefined
}

/** The last rounds of these loops. */
export function lastRoundsOf(run: RunRow, loops: readonly number[]): readonly number[] {
  return loops.flatMap((loop) => [...run.items.keys()].filter((item) => mapOf(item) === loop).slice(-1))
}

/** The outputs of a map's items, as JSON text. */
export function outputsOf(run: RunRow, map: number): string {
  const items = [...run.items.values()].filter(({ step }) => mapOf(step) === map)
  return `[${items.map(({ output }) => output ?? 'null').join(',')}]`
}

/** How a row's item is shown. */
export function itemOf({ item }: StepRow): { readonly item?: NewItem } {
  return item === null ? {} : { item }
}
