import { type DifferingItems, groupOf, type ItemsThatDiffer, isItem } from '@belay/workflow/adapter'
import type { RunRow, StepRow } from './rows.ts'
import { rowsOf } from './run-rows.ts'

/** A text that changes when the status of one of these rows changes, or one of its counts. */
export function printOf(rows: readonly StepRow[]): string {
  const prints = rows.map(({ status, fence, failures, losses, undo }) =>
    [status, fence, failures, losses, undo?.failures, undo?.losses].join(':'),
  )
  return prints.join()
}

/** The groups of items that look different from what the reader knows. */
export function differingItems(run: RunRow, { known, after, groupsMax }: ItemsThatDiffer): DifferingItems {
  const before = new Map(known.map(({ first, print }) => [first, print]))
  const now = new Map([...before.keys()].map((first) => [first, '']))
  const items = rowsOf(run).filter(({ step }) => isItem(step))
  for (const first of new Set(items.map(({ step }) => groupOf(step)))) {
    now.set(first, printOf(items.filter(({ step }) => groupOf(step) === first)))
  }
  const differing = [...now]
    .filter(([first, print]) => first > after && (before.get(first) ?? '') !== print)
    .map(([first, print]) => ({ first, print }))
    .sort((one, other) => one.first - other.first)
  return { prints: differing.slice(0, groupsMax), more: differing.length > groupsMax }
}
