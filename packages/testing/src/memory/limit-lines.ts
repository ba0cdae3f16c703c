import type { LimitLineUse } from '@belay/workflow/adapter'
import { lineOf, stillWaits, takenOf } from './limit-facts.ts'
import type { Rows } from './rows.ts'

/** The keys of a limit, the longest lines first. */
export function readLimitLines(
  rows: Rows,
  { limit, max }: { readonly limit: string; readonly max: number },
): readonly LimitLineUse[] {
  const { slots, waiters } = rows.limits
  const own = [...slots.values(), ...waiters.values()].filter((row) => row.limit === limit)
  return [...new Set(own.map(({ key }) => key))]
    .map((key) => useOf(rows, { limit, key }))
    .filter(({ inUse, waiting }) => inUse + waiting > 0)
    .sort(byLength)
    .slice(0, max)
}

function useOf(rows: Rows, line: { readonly limit: string; readonly key: string }): LimitLineUse {
  const waiting = lineOf(rows, line).filter((waiter) => stillWaits(rows, waiter))
  const first = waiting[0] ?? null
  return {
    key: line.key,
    inUse: takenOf(rows, line),
    waiting: waiting.length,
    first: first && { runId: first.runId, since: first.since },
  }
}

function byLength(one: LimitLineUse, other: LimitLineUse): number {
  return other.waiting - one.waiting || other.inUse - one.inUse || (one.key < other.key ? -1 : 1)
}
