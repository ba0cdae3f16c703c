import { isItem, mapOf } from './item-numbers.ts'
import type { StepStatus } from './lifecycle.ts'

/** Which items of a run to read: those with numbers above `after` and below `before`, in their order, at most `limit`. */
export interface ItemsToRead {
  readonly after: number
  readonly before: number
  readonly limit: number
}

/** How many items of a map have a status, and when the newest of their forward attempts ended. `map` is the number of the step that decided them. */
export interface ItemCount {
  readonly map: number
  readonly status: StepStatus
  readonly count: number
  /** Epoch milliseconds, store clock; null if none has ended. */
  readonly finishedAt: number | null
}

/** Counts the items among all rows of a run, ascending by map and status. */
export function countItems(
  rows: readonly { readonly step: number; readonly status: StepStatus; readonly finishedAt: number | null }[],
): readonly ItemCount[] {
  const counts = new Map<string, ItemCount>()
  for (const { step, status, finishedAt } of rows) {
    if (!isItem(step)) continue
    const map = mapOf(step)
    const key = `${map} ${status}`
    const known = counts.get(key)
    const newest = Math.max(known?.finishedAt ?? -1, finishedAt ?? -1)
    counts.set(key, { map, status, count: (known?.count ?? 0) + 1, finishedAt: newest < 0 ? null : newest })
  }
  return [...counts.values()].sort(
    (one, other) => one.map - other.map || (one.status < other.status ? -1 : 1),
  )
}
