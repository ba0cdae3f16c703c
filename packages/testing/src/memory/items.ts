import { HELD_TURNS, ITEMS_MAX, itemNumber, mapOf, type NewItem } from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { enqueueAt, type StepOfRun } from './lease.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { joinOf, openerOf } from './run-rows.ts'
import { newStep } from './start.ts'

/** Adds a map's items, and lets its join wait for them. Adds nothing if the join was cancelled. Returns the items that may begin. */
export function addItems(
  rows: Rows,
  { run, step }: { readonly run: RunRow; readonly step: StepRow },
  { items, atOnce }: { readonly items: readonly NewItem[]; readonly atOnce: number | null },
): readonly StepOfRun[] {
  const join = run.steps[joinOf(run, step.step)]!
  if (join.status !== 'pending') return []
  // The join waited for its map alone. One more open dependency is a pause: the resumption queues the items.
  const isPaused = join.openDependencies > 1
  changeStep(run, join, {
    openDependencies: join.openDependencies + items.length,
    nextItem: atOnce === null ? null : Math.min(atOnce, items.length) + (isPaused ? HELD_TURNS : 0),
    atOnce,
    itemOrder: null,
  })
  // Of a step that was claimed or moved before, the items show it too: a worker's cached payloads may be stale for them.
  const fence = Math.max(removeItems(rows, run, step.step) + 1, step.fence - 1)
  const added = items.map((item, index): StepOfRun => {
    const number = itemNumber(step.step, index)
    const open = index < (atOnce ?? items.length) ? 0 : 1
    const row = { ...newStep(number, open, null), item, fence, round: step.round, priority: step.priority }
    run.items.set(number, row)
    return { run, step: row }
  })
  return isPaused ? [] : added.filter((row) => row.step.openDependencies === 0)
}

/** Adds the round of a loop that follows `step`; cancelled, if the run is stopping. The loop's join goes on waiting. */
export function addRound(
  rows: Rows,
  { run, step }: StepOfRun,
  { nextItem, delayMs }: { readonly nextItem: NewItem; readonly delayMs: number },
): StepOfRun {
  const number = step.step + 1
  const join = run.steps[joinOf(run, mapOf(step.step))]!
  const waits = join.status === 'pending'
  const row: StepRow = {
    ...newStep(number, 0, null),
    ...{ item: nextItem, fence: step.fence, round: step.round, priority: step.priority },
    availableAt: waits && delayMs > 0 ? rows.now + delayMs : null,
    ...(waits ? {} : { status: 'cancelled' as const }),
  }
  run.items.set(number, row)
  return { run, step: row }
}

/** Removes the items of a map that decides them anew, and returns their greatest fence; -1 if there were none. */
function removeItems(rows: Rows, run: RunRow, map: number): number {
  let fence = -1
  for (const [step, row] of run.items) {
    if (mapOf(step) !== map) continue
    fence = Math.max(fence, row.fence)
    run.items.delete(step)
    rows.queue.remove({ runId: run.runId, step })
  }
  return fence
}

/** Skips the items of a map that ran before an undo, and is skipped now or failed to begin. The rows stay, so that their fences never repeat. */
export function skipItems(rows: Rows, run: RunRow, map: number, branch: string): void {
  const items = [...run.items.values()].filter(({ step }) => mapOf(step) === map)
  // If the run is stopping, its items were cancelled with its join.
  for (const row of items.filter(({ status }) => status === 'pending')) {
    changeStep(run, row, { status: 'skipped', openDependencies: 0, branch, finishedAt: rows.now })
  }
}

/** An item of a map has ended: the next one that waits for its turn may begin; in a paused run, once that is resumed. Returns it if it may now. */
export function freeNextItem(run: RunRow, ended: number): readonly StepOfRun[] {
  const map = mapOf(ended)
  const join = run.steps[joinOf(run, map)]!
  if (join.status !== 'pending' || join.nextItem === null) return []
  const index = join.itemOrder === null ? join.nextItem : (join.itemOrder[join.nextItem] ?? ITEMS_MAX)
  const next = index < ITEMS_MAX ? run.items.get(itemNumber(map, index)) : undefined
  changeStep(run, join, { nextItem: join.nextItem + 1 })
  if (next?.status !== 'pending') return []
  return [begin(run, next)]
}

/** Makes those items of a resumed run ready whose turn came during the pause, and queues all that may begin. */
export function queueItems(rows: Rows, run: RunRow): void {
  for (const join of run.steps) {
    const map = openerOf(run, join.step)
    if (map === undefined || join.status !== 'pending' || run.steps[map]!.status !== 'completed') continue
    const { nextItem, itemOrder } = join
    if (nextItem === null) continue
    for (let position = 0; position < Math.min(nextItem, ITEMS_MAX); position += 1) {
      const index = itemOrder === null ? position : itemOrder[position]
      const next = index === undefined ? undefined : run.items.get(itemNumber(map, index))
      if (next?.status === 'pending') begin(run, next)
    }
  }
  for (const step of run.items.values()) {
    const readyAt = readyAtOf(rows, run, step)
    if (readyAt !== null) enqueueAt(rows, { run, step }, readyAt)
  }
}

function begin(run: RunRow, step: StepRow): StepOfRun {
  const openDependencies = step.openDependencies - 1
  changeStep(run, step, { openDependencies, status: openDependencies === 0 ? 'ready' : 'pending' })
  return { run, step }
}

/** From when on an item may be claimed. Null if it may not: not now, or not before something else has happened. */
function readyAtOf({ now }: Rows, { startAt }: RunRow, step: StepRow): number | null {
  const { status, availableAt, signalledAt } = step
  if (status === 'waiting') return signalledAt !== null ? now : availableAt && Math.max(now, availableAt)
  if (status !== 'ready') return null
  return Math.max(now, startAt ?? now, availableAt ?? now)
}
