import { isItem, mapOf } from './item-numbers.ts'
import type { StepStatus } from './lifecycle.ts'
import type { StepRecord } from './records.ts'

/** Which items of maps and rounds of loops to read. `none`: none, and they are not counted. */
export type ItemsToRead = 'none' | ItemsInRange | ItemsOfEachStatus | ItemsThatDiffer

/** Those with numbers above `after` and below `before`, in their order, at most `limit`. */
export interface ItemsInRange {
  readonly after: number
  readonly before: number
  readonly limit: number
}

/**
 * Of each map, in each status, so many items: of those that are `compensating` the last ones, because rounds are undone backwards; else the first ones.
 * Their outputs are null in the answer.
 */
export interface ItemsOfEachStatus {
  readonly eachStatusMax: number
}

/** How many numbers an {@link ItemsPrint} is about. */
export const ITEM_GROUP = 512

/** A text for the items with numbers from `first` on that changes when one of them changes, comes or goes. Empty if there are none. Opaque. */
export interface ItemsPrint {
  readonly first: number
  readonly print: string
}

/** The groups of items that look different from what the reader knows, in their order. Those that it does not name, it knows as empty. */
export interface ItemsThatDiffer {
  readonly known: readonly ItemsPrint[]
  /** Only groups that begin after this number. */
  readonly after: number
  /** The most groups in an answer: it bounds an answer about a wide map. */
  readonly groupsMax: number
  /** Whether outputs are read; if not, those of items are null in the answer. */
  readonly outputs: boolean
}

/** What the groups in an answer look like now, and whether later ones differ too. */
export interface DifferingItems {
  readonly prints: readonly ItemsPrint[]
  readonly more: boolean
}

/** The items of a run as a reader puts them together from answers, by the first number of their group. */
export type ReadItems = ReadonlyMap<number, { readonly print: string; readonly rows: readonly StepRecord[] }>

/** Replaces the groups that an answer is about. Rows of the others stay the same objects. */
export function withDiffering(
  items: ReadItems,
  steps: readonly StepRecord[],
  { prints }: DifferingItems,
): ReadItems {
  const groups = new Map(items)
  for (const { first, print } of prints) {
    if (print === '') groups.delete(first)
    else groups.set(first, { print, rows: steps.filter(({ step }) => groupOf(step) === first) })
  }
  return new Map([...groups].sort(([one], [other]) => one - other))
}

/** The first number of an item's group. */
export function groupOf(item: number): number {
  return item - (item % ITEM_GROUP)
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
