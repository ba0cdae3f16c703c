import { clockText, DAY, dayText, minuteText, offsetMs, span } from './time.ts'

export interface TimeSpan {
  readonly startAt: number
  readonly endAt: number
}

export interface Segment extends TimeSpan {
  readonly x: number
  readonly width: number
  /** Idle time, drawn much shorter than it was. */
  readonly fold: boolean
}

export interface TimeScale {
  readonly segments: readonly Segment[]
  /** Pixels of an instant; instants outside are at the ends. */
  x(at: number): number
  /** The instant at a pixel. */
  at(x: number): number
}

/** Spans shorter than this would vanish. */
const BAR_MIN = 2.5

/**
 * A time axis from `left`, `width` pixels wide. With `fold`, time in which nothing happens is folded if it is longer than 0.3 of all in which something
 * happens. `spans` are what happens: attempts, begins and ends of waits.
 */
export function timeScale(
  spans: readonly TimeSpan[],
  axis: TimeSpan & { readonly left: number; readonly width: number; readonly fold: boolean },
): TimeScale {
  const foldWidth = axis.width < 600 ? 40 : 96
  const parts = axis.fold
    ? foldedParts(spans, axis, Math.floor((axis.width * 0.55) / foldWidth))
    : [{ ...axis }]
  const folds = parts.filter(({ fold }) => fold).length
  const active = parts.reduce((sum, part) => sum + (part.fold ? 0 : part.endAt - part.startAt), 0)
  // Small segments get 12 pixels, at the cost of the large ones.
  const room = axis.width - folds * foldWidth
  const count = Math.max(1, parts.length - folds)
  const least = Math.min(12, room / count)
  let x = axis.left
  const segments = parts.map(({ startAt, endAt, fold }): Segment => {
    const share = active === 0 ? 1 / count : (endAt - startAt) / active
    const width = fold ? foldWidth : least + (room - least * count) * share
    const segment = { startAt, endAt, fold, x, width }
    x += width
    return segment
  })
  return scaleOf(segments)
}

function scaleOf(segments: readonly Segment[]): TimeScale {
  const within = (share: number) => Math.max(0, Math.min(1, share))
  const last = segments.at(-1)!
  return {
    segments,
    x(at) {
      const { startAt, endAt, x, width } = segments.find((segment) => at <= segment.endAt) ?? last
      return x + width * within(endAt === startAt ? 0 : (at - startAt) / (endAt - startAt))
    },
    at(x) {
      const segment = segments.find((one) => x <= one.x + one.width) ?? last
      return segment.startAt + (segment.endAt - segment.startAt) * within((x - segment.x) / segment.width)
    },
  }
}

type Part = TimeSpan & { readonly fold: boolean }

function foldedParts(
  spans: readonly TimeSpan[],
  { startAt, endAt }: TimeSpan,
  foldsMax: number,
): readonly Part[] {
  const clamp = (at: number) => Math.max(startAt, Math.min(endAt, at))
  const ends = [startAt, endAt].map((at) => ({ startAt: at, endAt: at }))
  const all = [...spans, ...ends].map((span) => ({ startAt: clamp(span.startAt), endAt: clamp(span.endAt) }))
  const busy = merged(
    all.sort((a, b) => a.startAt - b.startAt),
    0,
  )
  const total = busy.reduce((sum, span) => sum + span.endAt - span.startAt, 0)
  // Some room around what happens, so that its label finds place before the fold.
  const pad = Math.max(total * 0.03, 20)
  const padded = merged(busy, pad).map((span) => ({ startAt: clamp(span.startAt), endAt: clamp(span.endAt) }))
  const gaps = padded
    .slice(1)
    .map((next, index) => ({ startAt: padded[index]!.endAt, endAt: next.startAt }))
    .filter((gap) => gap.endAt - gap.startAt > Math.max(total * 0.3, 5 * pad))
    .sort((a, b) => b.endAt - b.startAt - (a.endAt - a.startAt))
    .slice(0, Math.max(0, foldsMax))
    .sort((a, b) => a.startAt - b.startAt)
  const edges = [startAt, ...gaps.flatMap((gap) => [gap.startAt, gap.endAt]), endAt]
  return edges.slice(1).map((edge, index) => ({ startAt: edges[index]!, endAt: edge, fold: index % 2 === 1 }))
}

/** Sorted spans, `pad` longer at both ends, joined where they meet. */
function merged(spans: readonly TimeSpan[], pad: number): readonly TimeSpan[] {
  const joined: { startAt: number; endAt: number }[] = []
  for (const { startAt, endAt } of spans) {
    const last = joined.at(-1)
    if (last !== undefined && startAt - pad <= last.endAt) last.endAt = Math.max(last.endAt, endAt + pad)
    else joined.push({ startAt: startAt - pad, endAt: endAt + pad })
  }
  return joined
}

/** A bar from begin to end, at least 2.5 pixels wide, and inside the axis. */
export function barOf(
  scale: TimeScale,
  startAt: number,
  endAt: number,
): { readonly x: number; readonly width: number } {
  const last = scale.segments.at(-1)!
  const width = Math.max(BAR_MIN, scale.x(endAt) - scale.x(startAt))
  return { x: Math.min(scale.x(startAt), last.x + last.width - BAR_MIN), width }
}

export interface Tick {
  readonly at: number
  readonly x: number
  readonly label: string
}

const TICK_STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000],
  ...[1, 2, 5, 10, 30, 60, 120, 360, 720].map((minutes) => minutes * 60_000),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((days) => days * DAY),
]

/** Ticks on round times of a zone, at least `gap` pixels apart, none in a fold. */
export function ticksOf(
  scale: TimeScale,
  { zone, gap = 92 }: { readonly zone: string; readonly gap?: number },
): readonly Tick[] {
  let day = dayText(scale.segments[0]!.startAt, zone)
  return scale.segments.flatMap((segment) => {
    const { startAt, endAt, width, fold } = segment
    if (fold || width < gap / 2 || endAt <= startAt) return []
    const step = TICK_STEPS.find((ms) => (ms * width) / (endAt - startAt) >= gap) ?? TICK_STEPS.at(-1)!
    const ticks: Tick[] = []
    for (let at = nextRound(startAt, step, zone); at <= endAt; at = nextRound(at + 1, step, zone)) {
      const label = tickLabel(at, step, zone)
      // After a fold it may be another day, and the time alone would mislead.
      const isNewDay = dayText(at, zone) !== day && !label.startsWith(dayText(at, zone))
      day = dayText(at, zone)
      ticks.push({ at, x: scale.x(at), label: isNewDay ? `${day} ${minuteText(at, zone)}` : label })
    }
    return ticks
  })
}

/** Ticks on round times since the begin of a scale that begins at 0, at least `gap` pixels apart, none in a fold. */
export function spanTicksOf(scale: TimeScale, gap = 72): readonly Tick[] {
  return scale.segments.flatMap(({ startAt, endAt, width, fold }) => {
    if (fold || width < gap / 2 || endAt <= startAt) return []
    const step = TICK_STEPS.find((ms) => (ms * width) / (endAt - startAt) >= gap) ?? TICK_STEPS.at(-1)!
    const ticks: Tick[] = []
    for (let at = Math.ceil(startAt / step) * step; at <= endAt; at += step)
      ticks.push({ at, x: scale.x(at), label: `+${span(at)}` })
    return ticks
  })
}

/** The first round local time from an instant on. At a change of the clocks a day has 23 or 25 hours. */
function nextRound(at: number, step: number, zone: string): number {
  const offset = offsetMs(at, zone)
  const next = Math.ceil((at + offset) / step) * step - offset
  const changed = offset - offsetMs(next, zone)
  return next + changed >= at ? next + (step >= 60 * 60_000 ? changed : 0) : next
}

function tickLabel(at: number, step: number, zone: string): string {
  if (step >= DAY) return dayText(at, zone)
  if (step >= 60_000) return (at + offsetMs(at, zone)) % DAY === 0 ? dayText(at, zone) : minuteText(at, zone)
  if (step >= 1000) return clockText(at, zone)
  const digits = step >= 100 ? 1 : step >= 10 ? 2 : 3
  return `${clockText(at, zone)}${((at % 1000) / 1000).toFixed(digits).slice(1)}`
}
