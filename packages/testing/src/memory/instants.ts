import { type LimitEntry, RATE_HORIZON_MS, type RateSpan, rateToleranceMs } from '@belay/workflow/adapter'
import { type KeyRow, lineName, type SlotRow } from './limit-rows.ts'
import type { Rows } from './rows.ts'

type Line = Pick<LimitEntry, 'limit' | 'key'>

/** Two instants that are nearer than this are the same, in milliseconds: stores round them. */
const SAME_MS = 0.001

/** A rate with its number. */
interface Rate extends RateSpan {
  readonly limit: number
}

function numbersOf(rows: Rows, { limit }: Line, span: RateSpan): Rate {
  const row = rows.limits.limits.get(limit)!
  return { ...span, limit: row.set ?? row.declared! }
}

/** The time from one begin to the next, rounded up to microseconds. */
function intervalMs({ perMs, limit }: Rate): number {
  return Math.ceil((perMs * 1_000) / limit) / 1_000
}

/** How far ahead of `nextAt` a whole burst may begin. */
function burstMs(rate: Rate): number {
  return (rate.burst - 1) * intervalMs(rate)
}

/** `nextAt`, but not before now. One that is further ahead than any that was given is from before a clock went back. */
function nextOf({ now, limits }: Rows, line: Line, rate: Rate): number {
  const row = limits.keys.get(lineName(line))
  if (row === undefined) return now
  const open = Math.max(now, row.closedUntil)
  const each = intervalMs(rate)
  const latest = open + RATE_HORIZON_MS + (rate.burst + 1) * each
  return Math.max(now, row.nextAt > latest ? open + rate.burst * each : row.nextAt)
}

/** How many attempts may still be given instants up to this one. */
export function instantsUntil(rows: Rows, line: Line, span: RateSpan, until: number): number {
  const rate = numbersOf(rows, line, span)
  if (rate.limit === 0) return 0
  const ahead = until - nextOf(rows, line, rate) + burstMs(rate) + SAME_MS
  return ahead < 0 ? 0 : Math.floor(ahead / intervalMs(rate)) + 1
}

/** Uses up the next instant of a key, and returns it. */
export function takeInstant(rows: Rows, line: Line, span: RateSpan): number {
  const rate = numbersOf(rows, line, span)
  const next = nextOf(rows, line, rate)
  keyOf(rows, line).nextAt = next + intervalMs(rate)
  return Math.max(rows.now, next - burstMs(rate))
}

/** From when on a step that waits for a key may be given an instant of its rate, or a slot of a key that was pushed back. */
export function roomFrom(rows: Rows, line: Line, span: RateSpan | null): number {
  if (span === null) return rows.limits.keys.get(lineName(line))?.closedUntil ?? Number.POSITIVE_INFINITY
  const rate = numbersOf(rows, line, span)
  if (rate.limit === 0) return Number.POSITIVE_INFINITY
  return nextOf(rows, line, rate) - burstMs(rate) - RATE_HORIZON_MS
}

/** Whether a step that was given an instant comes in time. It has missed one that is too old, from before a change of the rate, or pushed back. */
export function isInTime(rows: Rows, { limit, key, at }: SlotRow, span: RateSpan): boolean {
  if (at === null || numbersOf(rows, { limit, key }, span).limit === 0) return false
  const closedUntil = rows.limits.keys.get(lineName({ limit, key }))?.closedUntil ?? 0
  return (
    at <= rows.now + SAME_MS &&
    rows.now - at <= rateToleranceMs(span.perMs) + SAME_MS &&
    at >= closedUntil - SAME_MS
  )
}

/** Whether the instant that a step was given, or its run, is still to come. */
export function mayComeInTime(rows: Rows, { limit, key, at }: SlotRow): boolean {
  const closedUntil = rows.limits.keys.get(lineName({ limit, key }))?.closedUntil ?? 0
  return at !== null && at > rows.now + SAME_MS && at >= closedUntil - SAME_MS
}

/** After a change of its rate a key begins with an empty burst, and what was given before is void. */
export function beginAnew(rows: Rows, line: Line, span: RateSpan): void {
  for (const slot of rows.limits.slots.values())
    if (slot.isGiven && slot.limit === line.limit && slot.key === line.key) slot.at = 0
  const row = rows.limits.keys.get(lineName(line))
  const rate = numbersOf(rows, line, span)
  if (row === undefined || row.nextAt <= rows.now || rate.limit === 0) return
  const each = intervalMs(rate)
  row.nextAt = row.closedUntil > rows.now ? row.closedUntil + burstMs(rate) : rows.now + rate.burst * each
}

/** Nobody enters before `until`. */
export function close(rows: Rows, line: Line, until: number, span: RateSpan | null): void {
  const row = keyOf(rows, line)
  row.closedUntil = Math.max(row.closedUntil, until)
  if (span === null) return
  const rate = numbersOf(rows, line, span)
  if (rate.limit > 0) row.nextAt = Math.max(nextOf(rows, line, rate), row.closedUntil + burstMs(rate))
}

function keyOf({ limits }: Rows, line: Line): KeyRow {
  const name = lineName(line)
  const known = limits.keys.get(name)
  if (known !== undefined) return known
  const row = { nextAt: 0, closedUntil: 0 }
  limits.keys.set(name, row)
  return row
}

/** Forgets keys that are as if they had never been used. */
export function forgetIdleKeys({ limits, now }: Rows): void {
  for (const [name, { nextAt, closedUntil }] of limits.keys)
    if (Math.max(nextAt, closedUntil) <= now) limits.keys.delete(name)
}
