import type { DeclaredLimit, LimitRecord, LimitWait, TendedLimits } from '@belay/workflow/adapter'
import { byLine, handOver, type Line } from './enter.ts'
import { concurrencyOf, freeSlots, isVoid, lineOf, stillWaits } from './limit-facts.ts'
import type { Rows } from './rows.ts'

/** How many lines a new number gives slots to at once. */
const LINES_MAX = 1_000

export function declareLimits(rows: Rows, limits: readonly DeclaredLimit[]): void {
  for (const { name, concurrency } of limits) {
    const row = rows.limits.limits.get(name)
    if (row === undefined) rows.limits.limits.set(name, { name, declared: concurrency, set: null })
    else row.declared = concurrency
  }
}

export function setLimit(
  rows: Rows,
  { name, concurrency }: { readonly name: string; readonly concurrency: number | null },
): LimitRecord | null {
  const row = rows.limits.limits.get(name)
  if (row === undefined) {
    if (concurrency === null) return null
    rows.limits.limits.set(name, { name, declared: null, set: concurrency })
  } else if (row.declared === null && concurrency === null) {
    rows.limits.limits.delete(name)
  } else row.set = concurrency
  const lines = linesOf(rows).filter(({ limit }) => limit === name)
  handOver(rows, lines.slice(0, LINES_MAX))
  return readLimits(rows, [name])[0] ?? null
}

export function readLimits(rows: Rows, names?: readonly string[]): readonly LimitRecord[] {
  const wanted = [...rows.limits.limits.values()].filter(({ name }) => names?.includes(name) ?? true)
  return wanted
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, declared, set }) => ({
      ...{ name, declared, set },
      concurrency: concurrencyOf(rows, name),
      inUse: [...rows.limits.slots.values()].filter(({ limit }) => limit === name).length,
      waiting: [...rows.limits.waiters.values()].filter(
        (waiter) => waiter.limit === name && stillWaits(rows, waiter),
      ).length,
    }))
}

export function readLimitWaits(rows: Rows, runId: string): readonly LimitWait[] {
  return [...rows.limits.waiters.values()]
    .filter((waiter) => waiter.runId === runId && stillWaits(rows, waiter))
    .sort((one, other) => one.step - other.step)
    .map((waiter) => {
      const concurrency = concurrencyOf(rows, waiter.limit)
      const line = lineOf(rows, waiter).filter((other) => stillWaits(rows, other))
      return {
        ...{ step: waiter.step, limit: waiter.limit, key: waiter.key, since: waiter.since, concurrency },
        place: line.indexOf(waiter) + 1,
        inUse: concurrency - freeSlots(rows, waiter),
      }
    })
}

export function tendLimits(
  rows: Rows,
  {
    after,
    limit,
    unclaimedMs,
  }: { readonly after: Line | null; readonly limit: number; readonly unclaimedMs: number },
): TendedLimits {
  const freed = new Map<string, Line>()
  for (const [name, slot] of rows.limits.slots) {
    if (!isVoid(rows, slot, rows.now - unclaimedMs)) continue
    rows.limits.slots.delete(name)
    freed.set(nameOf(slot), slot)
  }
  const part = linesOf(rows)
    .filter((line) => after === null || byLine(line, after) > 0)
    .slice(0, limit)
  const last = part.length < limit ? undefined : part.at(-1)
  for (const line of part) if (freeSlots(rows, line) > 0) freed.set(nameOf(line), line)
  return { queued: handOver(rows, [...freed.values()]), after: last ?? null }
}

/** The lines in which steps wait, in order. */
function linesOf(rows: Rows): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const { limit, key } of rows.limits.waiters.values()) lines.set(nameOf({ limit, key }), { limit, key })
  return [...lines.values()].sort(byLine)
}

function nameOf({ limit, key }: Line): string {
  return JSON.stringify([limit, key])
}
