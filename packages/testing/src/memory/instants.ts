import {
  CALLED_AHEAD_MS,
  type LimitEntry,
  RATE_HORIZON_MS,
  type RateSpan,
  rateToleranceMs,
} from '@belay/workflow/adapter'
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

/** `nextAt`, but not before now. After a change of its rate a key begins with an empty burst. An instant too far ahead is from before a clock went back. */
function nextOf({ now, limits }: Rows, line: Line, rate: Rate): number {
  const row = limits.keys.get(lineName(line))
  if (row === undefined) return now
  const { since } = limits.limits.get(line.limit)!
  const each = intervalMs(rate)
  const open = Math.max(now, row.closedUntil)
  let next = row.nextAt
  if (row.asOf !== since && next > since && rate.limit > 0)
    next = row.closedUntil > since ? row.closedUntil + burstMs(rate) : since + rate.burst * each
  const latest = open + RATE_HORIZON_MS + (rate.burst + 1) * each
  return Math.max(now, next > latest ? open + rate.burst * each : next)
}

/** The first instant that is free. */
export function firstInstant(rows: Rows, line: Line, span: RateSpan): number {
  const rate = numbersOf(rows, line, span)
  if (rate.limit === 0) return Number.POSITIVE_INFINITY
  return nextOf(rows, line, rate) - burstMs(rate)
}

/** Whether an instant has come. */
export function hasCome({ now }: Rows, at: number): boolean {
  return at <= now + SAME_MS
}

/** How many steps may be called for instants: for those that come at once, and the next two if they come soon. */
export function callableInstants(rows: Rows, line: Line, span: RateSpan): number {
  const rate = numbersOf(rows, line, span)
  if (rate.limit === 0) return 0
  const each = intervalMs(rate)
  const first = nextOf(rows, line, rate) - burstMs(rate)
  const within = (ms: number) => {
    const ahead = rows.now + ms - first + SAME_MS
    return ahead < 0 ? 0 : Math.floor(ahead / each) + 1
  }
  const underWay = Math.max(0, Math.ceil((first - openFrom(rows, line) - SAME_MS) / each) - 1)
  return Math.max(within(CALLED_AHEAD_MS), Math.min(within(RATE_HORIZON_MS), 2 - underWay))
}

/** Uses up the next instant of a key, and returns it. */
export function takeInstant(rows: Rows, line: Line, span: RateSpan): number {
  const rate = numbersOf(rows, line, span)
  const next = nextOf(rows, line, rate)
  const key = keyOf(rows, line)
  key.nextAt = next + intervalMs(rate)
  key.asOf = rows.limits.limits.get(line.limit)!.since
  return Math.max(rows.now, next - burstMs(rate))
}

/** When tending may find something to do in a line: a step to call, or one to pass over. */
export function nextCall(rows: Rows, line: Line, span: RateSpan | null, called: number): number {
  if (span === null) return rows.limits.keys.get(lineName(line))?.closedUntil ?? Number.POSITIVE_INFINITY
  const rate = numbersOf(rows, line, span)
  if (rate.limit === 0) return Number.POSITIVE_INFINITY
  const each = intervalMs(rate)
  const first = nextOf(rows, line, rate) - burstMs(rate) + called * each
  const isSecond = (first - openFrom(rows, line)) / each <= 2
  return first - (isSecond ? RATE_HORIZON_MS : Math.max(CALLED_AHEAD_MS, Math.min(RATE_HORIZON_MS, 2 * each)))
}

function openFrom({ limits, now }: Rows, line: Line): number {
  return Math.max(now, limits.keys.get(lineName(line))?.closedUntil ?? now)
}

/** From when on an attempt that waited for an instant enters with it: 0 for at once, null if it is missed: too late, from before a change of the rate, or pushed back. */
export function goodAt(rows: Rows, { limit, key, at, asOf }: SlotRow, span: RateSpan): number | null {
  const row = rows.limits.limits.get(limit)!
  if (at === null || asOf !== row.since || numbersOf(rows, { limit, key }, span).limit === 0) return null
  const closedUntil = rows.limits.keys.get(lineName({ limit, key }))?.closedUntil ?? 0
  const isMissed =
    at < closedUntil - SAME_MS ||
    rows.now - at > rateToleranceMs(span.perMs) + SAME_MS ||
    at > rows.now + RATE_HORIZON_MS + SAME_MS
  if (isMissed) return null
  return hasCome(rows, at) ? 0 : at
}

/** Nobody enters before `until`. */
export function close(rows: Rows, line: Line, until: number, span: RateSpan | null): void {
  const row = keyOf(rows, line)
  const rate = span === null ? null : numbersOf(rows, line, span)
  const next = rate === null ? 0 : nextOf(rows, line, rate)
  row.closedUntil = Math.max(row.closedUntil, until)
  if (rate === null) return
  if (rate.limit > 0) row.nextAt = Math.max(next, row.closedUntil + burstMs(rate))
  row.asOf = rows.limits.limits.get(line.limit)!.since
}

function keyOf({ limits }: Rows, line: Line): KeyRow {
  const name = lineName(line)
  const known = limits.keys.get(name)
  if (known !== undefined) return known
  const row = { nextAt: 0, asOf: 0, closedUntil: 0 }
  limits.keys.set(name, row)
  return row
}

/** Forgets keys that are as if they had never been used. */
export function forgetIdleKeys({ limits, now }: Rows): void {
  for (const [name, { nextAt, closedUntil }] of limits.keys)
    if (Math.max(nextAt, closedUntil) <= now) limits.keys.delete(name)
}
