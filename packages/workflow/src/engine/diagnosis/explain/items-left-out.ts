import {
  type DefinitionShape,
  type ItemCount,
  isItem,
  isTerminal,
  mapOf,
  type StepRecord,
  type StepStatus,
} from '../../../adapter/index.ts'
import type { ItemsLeftOut, LeftOut, RunToExplain } from './explanation.ts'

/** Counts the items whose rows were not read. */
export function countLeftOut(
  { steps: shapes }: DefinitionShape,
  steps: readonly StepRecord[],
  counts: readonly ItemCount[],
): readonly LeftOut[] {
  const read = new Map<string, number>()
  for (const { step, status } of steps) {
    if (!isItem(step)) continue
    const group = `${mapOf(step)} ${status}`
    read.set(group, (read.get(group) ?? 0) + 1)
  }
  return counts.flatMap(({ map, status, count }) => {
    const { name, onFailure } = shapes[map]!
    const items = count - (read.get(`${map} ${status}`) ?? 0)
    if (items <= 0) return []
    // The name of a map's opener ends in brackets.
    return [
      { opener: map, map: name.replace(/\[\]$/, ''), status, items, continues: onFailure === 'continue' },
    ]
  })
}

/** How many items that were not read have one of these statuses; with `opener`, only those of that map or loop. */
export function leftOutIn(
  { leftOut = [] }: RunToExplain,
  has: (status: StepStatus) => boolean,
  opener?: number,
): number {
  return leftOut
    .filter((group) => has(group.status) && (opener === undefined || group.opener === opener))
    .reduce((sum, { items }) => sum + items, 0)
}

/** Tells of the items that were not read whatever would have been told of each. */
export function explainLeftOut(found: RunToExplain): readonly ItemsLeftOut[] {
  return (found.leftOut ?? []).flatMap((group) => {
    const does = whatTheyDo(found, group)
    if (does === null) return []
    const { map, status, items } = group
    const more = `${items} more ${items === 1 ? 'item' : 'items'} of "${map}"`
    return [{ map, status, items, sentence: `${more}: ${does}.` }]
  })
}

/** Null if an explanation does not mention such items. */
function whatTheyDo({ run }: RunToExplain, { status, continues }: LeftOut): string | null {
  if (status === 'skipped') return 'skipped'
  if (status === 'failed' && continues) return 'failed, and the run continued'
  if (isTerminal(run.status)) return null
  const begins = run.status === 'paused' ? ', and not begun until the run is resumed' : ''
  const isStopped = run.cause !== null
  switch (status) {
    case 'running':
      return 'running'
    case 'pending':
      return isStopped ? 'cancelled before the undo begins' : `waiting for their turn${begins}`
    case 'ready':
      return isStopped
        ? 'cancelled before the undo begins'
        : `ready, or waiting for a retry or a slot${begins}`
    case 'waiting':
      return `waiting for a time, a signal, a child or an answer${begins}`
    case 'failed':
      return isStopped ? null : 'failed for good, and waiting for an operator'
    case 'compensating':
      return `to be undone${begins}`
    case 'compensation_failed':
      return 'with an undo that failed for good, and waiting for an operator'
    default:
      return null
  }
}
