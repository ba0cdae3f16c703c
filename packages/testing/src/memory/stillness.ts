import type { Adapter, Stillness } from '@belay/workflow/adapter'
import { nextDeadline } from './due.ts'
import type { Rows } from './rows.ts'

/** Verbs that loops call over and over: while one of them is replaced, nobody knows what a look would find. */
const LOOKS = [
  ...['claim', 'held', 'renew', 'sweep', 'stopping', 'drain', 'beginUndo', 'upcoming', 'expireRuns'],
  ...['findRunEnds', 'readStatuses', 'observeRuns', 'readRun', 'readValues'],
] as readonly (keyof Adapter)[]

/** What this store, seen through this adapter, knows of its own future. */
export function stillnessOf(rows: Rows, adapter: Adapter, isOpen: () => boolean): Stillness {
  const own = LOOKS.map((verb) => adapter[verb])
  const isWhole = () => isOpen() && LOOKS.every((verb, index) => adapter[verb] === own[index])
  return {
    of: adapter,
    get changes() {
      return isWhole() ? rows.changes : Number.NaN
    },
    claimableAt: (definitionIds) =>
      rows.queue.firstAt(definitionIds === undefined ? undefined : new Set(definitionIds)),
    deadlineAt: () => nextDeadline(rows),
    lapsesAt: () => lapsesAt(rows),
    trust: (workerId, isSure) => {
      rows.trusted.set(workerId, isSure)
    },
  }
}

function lapsesAt(rows: Rows): number {
  let first = Number.POSITIVE_INFINITY
  for (const { workerId, status, leaseExpiresAt } of rows.workers.values()) {
    // A dead worker stays until its last step was swept.
    const at = status === 'dead' ? Number.NEGATIVE_INFINITY : leaseExpiresAt
    if (at < first && rows.trusted.get(workerId)?.() !== true) first = at
  }
  return first
}
