import type { Adapter, DeclaredLimit, LimitRecord, LimitWait, TendedLimits } from '@belay/workflow/adapter'
import { byLine, handOver, type Line } from './give-slots.ts'
import { beginAnew, close, forgetIdleKeys } from './instants.ts'
import { concurrencyOf, isVoid, lineOf, rateOf, roomOf, stillWaits, takenOf } from './limit-facts.ts'
import { lineName } from './limit-rows.ts'
import type { Rows } from './rows.ts'

/** How many lines a new number gives slots to at once. */
const LINES_MAX = 1_000

export function declareLimits(rows: Rows, limits: readonly DeclaredLimit[]): void {
  for (const { name, concurrency, rate: declaredRate = null } of limits) {
    const row = rows.limits.limits.get(name)
    if (row === undefined) {
      rows.limits.limits.set(name, { name, declared: concurrency, set: null, declaredRate, setRate: null })
      continue
    }
    // What was set for the other kind of limit means nothing any more.
    const isOther = row.set !== null && (row.setRate === null) !== (declaredRate === null)
    Object.assign(row, { declared: concurrency, declaredRate }, isOther ? { set: null, setRate: null } : {})
  }
}

export function setLimit(
  rows: Rows,
  { name, concurrency, rate = null }: Parameters<Adapter['setLimit']>[0],
): LimitRecord | null {
  const row = rows.limits.limits.get(name)
  if (row === undefined) {
    if (concurrency === null) return null
    const set = { set: concurrency, setRate: rate }
    rows.limits.limits.set(name, { name, declared: null, declaredRate: null, ...set })
  } else if (row.declared === null && concurrency === null) {
    rows.limits.limits.delete(name)
  } else Object.assign(row, { set: concurrency, setRate: concurrency === null ? null : rate })
  const span = rateOf(rows, name)
  if (span !== null) for (const line of keysOf(rows, name)) beginAnew(rows, line, span)
  const lines = linesOf(rows).filter(({ limit }) => limit === name)
  handOver(rows, lines.slice(0, LINES_MAX))
  return readLimits(rows, [name])[0] ?? null
}

export function readLimits(rows: Rows, names?: readonly string[]): readonly LimitRecord[] {
  const wanted = [...rows.limits.limits.values()].filter(({ name }) => names?.includes(name) ?? true)
  return wanted
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, declared, set, declaredRate, setRate }) => ({
      ...{ name, declared, set, declaredRate, setRate },
      concurrency: concurrencyOf(rows, name),
      rate: rateOf(rows, name),
      pushedBackUntil: pushedBackUntil(rows, name),
      inUse: [...rows.limits.slots.values()].filter(({ limit }) => limit === name).length,
      waiting: [...rows.limits.waiters.values()].filter(
        (waiter) => waiter.limit === name && stillWaits(rows, waiter),
      ).length,
    }))
}

function pushedBackUntil(rows: Rows, name: string): number | null {
  const instants = keysOf(rows, name).map((line) => rows.limits.keys.get(lineName(line))?.closedUntil ?? 0)
  const latest = Math.max(0, ...instants)
  return latest > rows.now ? latest : null
}

export function pushBackLimits(
  rows: Rows,
  { lines, afterMs }: { readonly lines: readonly Line[]; readonly afterMs: number },
): void {
  for (const line of lines) {
    if (!rows.limits.limits.has(line.limit)) continue
    close(rows, line, rows.now + afterMs, rateOf(rows, line.limit))
  }
}

export function readLimitWaits(rows: Rows, runId: string): readonly LimitWait[] {
  return [...waitsInLines(rows, runId), ...waitsWithInstants(rows, runId)].sort(
    (one, other) => one.step - other.step,
  )
}

function waitsWithInstants(rows: Rows, runId: string): readonly LimitWait[] {
  const byStep = new Map<number, LimitWait>()
  for (const slot of rows.limits.slots.values()) {
    if (slot.runId !== runId || !slot.isGiven || slot.at === null || slot.at <= rows.now) continue
    if (!stillWaits(rows, slot) || (byStep.get(slot.step)?.at ?? 0) >= slot.at) continue
    const { step, limit, key, since, at } = slot
    const numbers = { concurrency: concurrencyOf(rows, limit), inUse: takenOf(rows, slot) }
    byStep.set(step, { step, limit, key, place: 0, since, ...numbers, rate: rateOf(rows, limit), at })
  }
  return [...byStep.values()]
}

function waitsInLines(rows: Rows, runId: string): readonly LimitWait[] {
  return [...rows.limits.waiters.values()]
    .filter((waiter) => waiter.runId === runId && stillWaits(rows, waiter))
    .map((waiter) => {
      const concurrency = concurrencyOf(rows, waiter.limit)
      const line = lineOf(rows, waiter).filter((other) => stillWaits(rows, other))
      return {
        ...{ step: waiter.step, limit: waiter.limit, key: waiter.key, since: waiter.since, concurrency },
        place: line.indexOf(waiter) + 1,
        inUse: takenOf(rows, waiter),
        rate: rateOf(rows, waiter.limit),
        at: null,
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
  forgetIdleKeys(rows)
  const freed = new Map<string, Line>()
  for (const [name, slot] of rows.limits.slots) {
    if (!isVoid(rows, slot, rows.now - unclaimedMs)) continue
    rows.limits.slots.delete(name)
    freed.set(lineName(slot), slot)
  }
  const part = linesOf(rows)
    .filter((line) => after === null || byLine(line, after) > 0)
    .slice(0, limit)
  const last = part.length < limit ? undefined : part.at(-1)
  for (const line of part) if (roomOf(rows, line) > 0) freed.set(lineName(line), line)
  return { queued: handOver(rows, [...freed.values()]), after: last ?? null }
}

/** The keys of a limit of which anything is kept. */
function keysOf({ limits }: Rows, name: string): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const { limit, key } of limits.slots.values())
    if (limit === name) lines.set(lineName({ limit, key }), { limit, key })
  for (const line of limits.keys.keys()) {
    const [limit, key] = JSON.parse(line) as [string, string]
    if (limit === name) lines.set(line, { limit, key })
  }
  return [...lines.values()]
}

/** The lines in which steps wait, in order. */
function linesOf(rows: Rows): readonly Line[] {
  const lines = new Map<string, Line>()
  for (const { limit, key } of rows.limits.waiters.values())
    lines.set(lineName({ limit, key }), { limit, key })
  return [...lines.values()].sort(byLine)
}
