import type {
  Adapter,
  DeclaredLimit,
  LimitNumbers,
  LimitRecord,
  LimitWait,
  OlderRun,
  TendedLimits,
} from '@belay/workflow/adapter'
import { byLine, callLines, type Line } from './call-steps.ts'
import { close, forgetIdleKeys } from './instants.ts'
import { concurrencyOf, isVoid, lineOf, rateOf, stillWaits, takenOf } from './limit-facts.ts'
import { type LimitRow, lineName, OF_RUN, type SlotRow, type WaiterRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'
import { rowOf } from './run-rows.ts'
import { goesForward, isPastPivot } from './stop.ts'

export function declareLimits(rows: Rows, limits: readonly DeclaredLimit[]): void {
  for (const { name, concurrency, rate: declaredRate = null } of limits) {
    const row = rows.limits.limits.get(name)
    if (row === undefined) {
      const declared = { declared: concurrency, declaredRate, since: rows.now }
      rows.limits.limits.set(name, { name, ...declared, set: null, setRate: null })
      continue
    }
    const same = { perMs: row.declaredRate?.perMs, burst: row.declaredRate?.burst }
    if (
      row.declared === concurrency &&
      same.perMs === declaredRate?.perMs &&
      same.burst === declaredRate?.burst
    )
      continue
    // What was set for the other kind of limit means nothing any more.
    const isOther = row.set !== null && (row.setRate === null) !== (declaredRate === null)
    const since = changedAt(rows, row)
    Object.assign(
      row,
      { declared: concurrency, declaredRate, since },
      isOther ? { set: null, setRate: null } : {},
    )
  }
}

/** Each change is later than the one before. */
function changedAt({ now }: Rows, { since }: LimitRow): number {
  return Math.max(now, since + 0.001)
}

export function setLimit(
  rows: Rows,
  { name, concurrency, rate = null }: Parameters<Adapter['setLimit']>[0],
): LimitNumbers | null {
  const row = rows.limits.limits.get(name)
  if (row === undefined) {
    if (concurrency === null) return null
    const set = { set: concurrency, setRate: rate, since: rows.now }
    rows.limits.limits.set(name, { name, declared: null, declaredRate: null, ...set })
  } else if (row.declared === null && concurrency === null) {
    rows.limits.limits.delete(name)
  } else {
    const setRate = concurrency === null ? null : rate
    Object.assign(row, { set: concurrency, setRate, since: changedAt(rows, row) })
  }
  const changed = rows.limits.limits.get(name)
  return changed === undefined ? null : numbersOf(rows, changed)
}

function numbersOf(rows: Rows, { name, declared, set, declaredRate, setRate }: LimitRow): LimitNumbers {
  const numbers = { concurrency: concurrencyOf(rows, name), rate: rateOf(rows, name) }
  return { name, declared, set, declaredRate, setRate, ...numbers }
}

export function readLimits(
  rows: Rows,
  names?: readonly string[],
  { uncounted = false }: { readonly uncounted?: boolean } = {},
): readonly LimitRecord[] {
  const wanted = [...rows.limits.limits.values()].filter(({ name }) => names?.includes(name) ?? true)
  return wanted
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((row) => ({
      ...numbersOf(rows, row),
      ...(uncounted ? { pushedBackUntil: null, inUse: 0, waiting: 0 } : useOf(rows, row)),
    }))
}

function useOf(rows: Rows, { name }: LimitRow): Pick<LimitRecord, 'pushedBackUntil' | 'inUse' | 'waiting'> {
  const isInLine = (waiter: WaiterRow) => waiter.limit === name && waiter.calledAt === null
  return {
    pushedBackUntil: pushedBackUntil(rows, name),
    inUse: [...rows.limits.slots.values()].filter(({ limit }) => limit === name).length,
    waiting: [...rows.limits.waiters.values()].filter(
      (waiter) => isInLine(waiter) && stillWaits(rows, waiter),
    ).length,
  }
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
    if (!isHeld(rows, slot) || (byStep.get(slot.step)?.at ?? 0) >= slot.at) continue
    const { step, limit, key, since, at } = slot
    const numbers = { concurrency: concurrencyOf(rows, limit), inUse: takenOf(rows, slot) }
    byStep.set(step, { step, limit, key, place: 0, since, ...numbers, rate: rateOf(rows, limit), at })
  }
  return [...byStep.values()]
}

/** Its attempt waits for its instant with a worker. */
function isHeld(rows: Rows, { runId, step: number, fence }: SlotRow): boolean {
  const run = rows.runs.get(runId)
  const step = run === undefined ? undefined : rowOf(run, number)
  return step?.status === 'running' && step.fence === fence
}

function waitsInLines(rows: Rows, runId: string): readonly LimitWait[] {
  return [...rows.limits.waiters.values()]
    .filter((waiter) => waiter.runId === runId && waiter.calledAt === null && stillWaits(rows, waiter))
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

export function findOlderRuns(
  rows: Rows,
  { lines, limit }: Parameters<Adapter['findOlderRuns']>[0],
): readonly OlderRun[] {
  const asked = linesOf(rows).filter((line) =>
    lines.some(({ limit: name, key }) => name === line.limit && (key === null || key === line.key)),
  )
  return asked.flatMap((line) => olderRunsOf(rows, line)).slice(0, limit)
}

/** The runs that want a slot of this key, but for the newest that there are slots for. */
function olderRunsOf(rows: Rows, line: Line): readonly OlderRun[] {
  const waiting = lineOf(rows, line).filter(
    (waiter) =>
      waiter.entries.some(({ of, limit }) => of === 'run' && limit === line.limit) &&
      stillWaits(rows, waiter),
  )
  if (waiting.length === 0 || rateOf(rows, line.limit) !== null) return []
  const holding = [...rows.limits.slots.values()].filter(
    ({ limit, key, step }) => limit === line.limit && key === line.key && step === OF_RUN,
  )
  const runIds = new Set([...holding, ...waiting].map(({ runId }) => runId))
  const runs = [...runIds]
    .flatMap((runId) => rows.runs.get(runId) ?? [])
    .filter(goesForward)
    .sort((one, other) => other.createdAt - one.createdAt || (one.runId < other.runId ? 1 : -1))
  return runs
    .slice(Math.max(1, concurrencyOf(rows, line.limit)))
    .filter((run) => !isPastPivot(run))
    .map(({ runId }) => ({ limit: line.limit, key: line.key, runId, newerRunId: runs[0]!.runId }))
    .sort((one, other) => (one.runId < other.runId ? -1 : 1))
}

export function tendLimits(
  rows: Rows,
  { after, limit }: { readonly after: Line | null; readonly limit: number },
): TendedLimits {
  forgetIdleKeys(rows)
  for (const [name, slot] of rows.limits.slots) if (isVoid(rows, slot)) rows.limits.slots.delete(name)
  const lines = linesOf(rows)
  const part = lines.filter((line) => after === null || byLine(line, after) > 0).slice(0, limit)
  const last = part.length < limit ? undefined : part.at(-1)
  return { queued: callLines(rows, lines), after: last ?? null }
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
