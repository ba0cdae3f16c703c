import type { NewRun, StartLimit } from '@belay/workflow/adapter'
import { byLine } from './call-steps.ts'
import { callsOf, concurrencyOf, dropVoid, isAwaited, takenOf } from './limit-facts.ts'
import { OF_RUN, slotName } from './limit-rows.ts'
import type { Rows } from './rows.ts'

/** Drops void slots for which nobody waits: no start must be refused for them. */
export function dropVoidAtStart(rows: Rows, runs: readonly NewRun[]): void {
  for (const { limits = [] } of runs)
    for (const line of limits) if (!isAwaited(rows, line)) dropVoid(rows, line)
}

/** The limit of a new run that has no slot, else takes a slot of each. With `tx`, its slots are void once that has been rolled back. */
export function enterAtStart(
  rows: Rows,
  { runId, definitionId, limits = [] }: NewRun,
  tx?: { readonly isOpen: boolean },
): StartLimit | undefined {
  const roomOf = ({ concurrency, ...line }: StartLimit) =>
    rows.limits.limits.has(line.limit) ? callsOf(rows, line) : concurrency - takenOf(rows, line)
  const full = [...limits].sort(byLine).find((limit) => roomOf(limit) <= 0)
  if (full !== undefined) {
    const known = concurrencyOf(rows, full.limit)
    return Number.isFinite(known) ? { ...full, concurrency: known } : full
  }
  for (const { limit, key } of limits) {
    rows.limits.slots.set(slotName({ limit, key }, runId, OF_RUN), {
      ...{ limit, key, runId, step: OF_RUN, fence: 0, isGiven: false, at: null, asOf: 0, place: null },
      ...{ definitionId, since: rows.now, reservedBy: tx },
    })
  }
  return undefined
}
