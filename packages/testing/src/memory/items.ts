import { isItem, itemNumber, mapOf, type NewItem, type StepShape, templateOf } from '@belay/workflow/adapter'
import { assertInvariant, changeStep } from './change.ts'
import { enqueue } from './lease.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { newStep } from './start.ts'

/** A row of a run: a step, or an item of a map. */
export function rowOf(run: RunRow, number: number): StepRow | undefined {
  return isItem(number) ? run.items.get(number) : run.steps[number]
}

/** All rows of a run, ascending by number. */
export function rowsOf(run: RunRow): readonly StepRow[] {
  if (run.items.size === 0) return run.steps
  return [...run.steps, ...[...run.items.values()].sort((one, other) => one.step - other.step)]
}

export function shapeOf(run: RunRow, number: number): StepShape {
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

/** The numbers of the rows that wait for this one while the run goes forward. A map's items do not wait: they come when it completes. */
export function dependentsOf(run: RunRow, number: number): readonly number[] {
  return isItem(number) ? [joinOf(run, mapOf(number))] : run.definition.dependents[number]!
}

/** The numbers of the rows whose undo waits for the undo of this one. */
export function dependenciesOf(run: RunRow, number: number): readonly number[] {
  if (isItem(number)) return [mapOf(number)]
  const { kind, dependsOn } = shapeOf(run, number)
  if (kind !== 'join') return dependsOn
  return [...dependsOn, ...[...run.items.keys()].filter((item) => mapOf(item) === dependsOn[0])]
}

/** Adds a map's items, and lets its join wait for them. Adds nothing if the join was cancelled. Returns whether any were queued. */
export function addItems(
  rows: Rows,
  { run, step }: { readonly run: RunRow; readonly step: StepRow },
  { items, atOnce }: { readonly items: readonly NewItem[]; readonly atOnce: number | null },
): boolean {
  const join = run.steps[joinOf(run, step.step)]!
  if (join.status !== 'pending') return false
  // The join waited for its map alone. One more open dependency is a pause: its resumption is what everything in the run waits for.
  const pauses = join.openDependencies - 1
  changeStep(run, join, {
    openDependencies: join.openDependencies + items.length,
    nextItem: atOnce === null ? null : Math.min(atOnce, items.length),
    atOnce,
  })
  items.forEach((item, index) => {
    const number = itemNumber(step.step, index)
    assertInvariant(
      !run.items.has(number),
      'items_are_added_once',
      () => `run ${run.runId} has item ${number} already.`,
    )
    const open = pauses + (index < (atOnce ?? items.length) ? 0 : 1)
    const row = { ...newStep(number, open, null), item }
    run.items.set(number, row)
    if (open === 0) enqueue(rows, { run, step: row })
  })
  return items.length > 0 && pauses === 0
}

/**
 * An item of a map has ended: the next one that waits for its turn becomes ready; in a paused run, once that is resumed. Returns whether one was
 * queued.
 */
export function freeNextItem(rows: Rows, run: RunRow, ended: number): boolean {
  const map = mapOf(ended)
  const join = run.steps[joinOf(run, map)]!
  if (join.status !== 'pending' || join.nextItem === null) return false
  const next = run.items.get(itemNumber(map, join.nextItem))
  changeStep(run, join, { nextItem: join.nextItem + 1 })
  if (next?.status !== 'pending') return false
  const openDependencies = next.openDependencies - 1
  changeStep(run, next, { openDependencies, status: openDependencies === 0 ? 'ready' : 'pending' })
  if (openDependencies === 0) enqueue(rows, { run, step: next })
  return openDependencies === 0
}

/** How a row's item is shown. */
export function itemOf({ item }: StepRow): { readonly item?: NewItem } {
  return item === null ? {} : { item }
}
