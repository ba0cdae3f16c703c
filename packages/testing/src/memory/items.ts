import { itemNumber, mapOf, type NewItem } from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { enqueue } from './lease.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { joinOf } from './run-rows.ts'
import { newStep } from './start.ts'

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
  const earlier = removeItems(rows, run, step.step)
  items.forEach((item, index) => {
    const number = itemNumber(step.step, index)
    const open = pauses + (index < (atOnce ?? items.length) ? 0 : 1)
    const fence = (earlier.get(number)?.fence ?? -1) + 1
    const row = { ...newStep(number, open, null), item, fence, round: step.round }
    run.items.set(number, row)
    if (open === 0) enqueue(rows, { run, step: row })
  })
  return items.length > 0 && pauses === 0
}

/** Removes the items of a map that decides them anew, and returns them. */
function removeItems(rows: Rows, run: RunRow, map: number): ReadonlyMap<number, StepRow> {
  const removed = new Map([...run.items].filter(([number]) => mapOf(number) === map))
  for (const step of removed.keys()) {
    run.items.delete(step)
    rows.queue.remove({ runId: run.runId, step })
  }
  return removed
}

/** Skips the items of a map that ran before an undo and is skipped now. The rows stay, so that their fences never repeat. */
export function skipItems(rows: Rows, run: RunRow, map: number, branch: string): void {
  const items = [...run.items.values()].filter(({ step }) => mapOf(step) === map)
  // If the run is stopping, its items were cancelled with its join.
  for (const row of items.filter(({ status }) => status === 'pending')) {
    changeStep(run, row, { status: 'skipped', openDependencies: 0, branch, finishedAt: rows.now })
  }
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
