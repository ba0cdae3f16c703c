import { attemptsOf } from './attempts.ts'
import type { ComparedStep } from './compared.ts'
import { type Drawing, type Shape, shape } from './drawing.ts'
import { type GlyphState, glyph, glyphOf, stateClass } from './glyphs.ts'
import type { ViewAttempt, ViewRun, ViewStep } from './model.ts'
import { barOf, spanTicksOf, type TimeScale, timeScale } from './scale.ts'
import { px, textShape } from './text.ts'

const TOP = 26
const LANE = 15
const BAR = 9

/** The same steps of two runs beneath each other, each run from its own begin, on one scale. Below 640 pixels the names stand above the bars. */
export function drawPair(
  steps: readonly ComparedStep[],
  runs: { readonly a: ViewRun; readonly b: ViewRun },
  { width = 1100, fold = true }: { readonly width?: number; readonly fold?: boolean } = {},
): Drawing {
  const narrow = width < 640
  const left = narrow ? 24 : Math.round(Math.min(240, width * 0.26))
  const rowHeight = 2 * LANE + 12 + (narrow ? 16 : 0)
  const whole = [wholeOf(runs.a), wholeOf(runs.b)] as const
  const lanes = steps.map(({ before, after }) => [barsOf(runs.a, before), barsOf(runs.b, after)] as const)
  const spans = [...whole, ...lanes.flat()].flat()
  const endAt = whole.flat().reduce((latest, bar) => Math.max(latest, bar.endAt), 1)
  const busy = lanes.flat(2).flatMap(endsOf)
  const scale = timeScale(busy, {
    startAt: 0,
    endAt,
    left,
    width: width - left - 12,
    fold: fold && spans.length > 2,
  })
  const height = TOP + (steps.length + 1) * rowHeight + 8
  const rows = [
    { name: 'The whole run', lanes: whole },
    ...steps.map(({ name }, index) => ({ name, lanes: lanes[index]! })),
  ]
  return {
    width,
    height,
    shapes: [
      shape(
        'g',
        { class: 'belay timeline' },
        ...groundOf(scale, height),
        ...rows.flatMap((row, index) => rowOf(row, scale, { y: TOP + index * rowHeight, left, narrow })),
      ),
    ],
  }
}

interface Bar {
  /** From the begin of the run, in milliseconds. */
  readonly startAt: number
  readonly endAt: number
  readonly state: GlyphState
  readonly isUndo: boolean
  /** Drawn hollow. */
  readonly isVain: boolean
}

function wholeOf(run: ViewRun): readonly Bar[] {
  const endAt = (run.finishedAt ?? run.readAt) - beginOf(run)
  return [{ startAt: 0, endAt, state: glyphOf(run.status), isUndo: false, isVain: false }]
}

function beginOf({ createdAt, startAt = 0 }: ViewRun): number {
  return Math.max(createdAt, startAt)
}

function barsOf(run: ViewRun, step: ViewStep | undefined): readonly Bar[] {
  const begin = beginOf(run)
  const rounds = Array.from({ length: step?.round ?? 0 }, (_, index) => index + 1)
  const known = rounds.flatMap((round) =>
    (['forward', 'undo'] as const).flatMap((direction) => attemptsOf(step!, direction, round)),
  )
  return known.map(({ direction, startAt, endAt = run.finishedAt ?? run.readAt, ended }) => ({
    startAt: startAt - begin,
    endAt: endAt - begin,
    ...looksOf(direction, ended),
    isUndo: direction === 'undo',
  }))
}

function looksOf(
  direction: ViewAttempt['direction'],
  ended: ViewAttempt['ended'],
): Pick<Bar, 'state' | 'isVain'> {
  const isUndo = direction === 'undo'
  switch (ended) {
    case 'running':
      return { state: isUndo ? 'undoing' : 'running', isVain: false }
    case 'completed':
      return { state: isUndo ? 'undone' : 'completed', isVain: false }
    case 'waiting':
    case 'skipped':
      return { state: ended, isVain: false }
    case 'failed':
    case 'given_up':
      return { state: isUndo ? 'parked' : 'failed', isVain: false }
    case 'retrying':
    case 'lost':
    case 'released':
      return { state: isUndo ? 'undoing' : 'failed', isVain: true }
  }
}

/** Nothing happens while a step waits. */
function endsOf({ startAt, endAt, state }: Bar) {
  if (state !== 'waiting') return [{ startAt, endAt }]
  return [startAt, endAt].map((at) => ({ startAt: at, endAt: at }))
}

function groundOf(scale: TimeScale, height: number): readonly Shape[] {
  const line = (x: number, look: string) =>
    shape('path', { class: look, d: `M${px(x)} ${TOP - 6}V${height - 8}` })
  return [
    ...scale.segments.flatMap(({ fold, x, width }) =>
      fold
        ? [shape('rect', { class: 'fold', x: px(x), y: TOP - 6, width: px(width), height: height - TOP - 2 })]
        : [],
    ),
    ...spanTicksOf(scale).flatMap(({ x, label }) => [
      line(x, 'grid'),
      shape('text', { class: 'axis-text', x: px(x), y: 14 }, label),
    ]),
  ]
}

function rowOf(
  { name, lanes }: { readonly name: string; readonly lanes: readonly (readonly Bar[])[] },
  scale: TimeScale,
  { y, left, narrow }: { readonly y: number; readonly left: number; readonly narrow: boolean },
): readonly Shape[] {
  const top = y + (narrow ? 18 : 4)
  return [
    textShape(name, {
      class: 'name',
      x: narrow ? 2 : 4,
      y: narrow ? y + 12 : top + LANE + 3,
      widthMax: narrow ? 320 : left - 40,
    }),
    ...lanes.flatMap((bars, lane) => {
      const middle = top + lane * LANE + BAR / 2
      return [
        shape('text', { class: 'dim small', x: left - 14, y: middle + 4 }, 'AB'[lane]!),
        ...bars.flatMap((bar) => drawnBar(bar, scale, middle)),
      ]
    }),
  ]
}

/** Hollow if it was in vain. What goes back is thinner, and has its sign at its end. */
function drawnBar(
  { startAt, endAt, state, isUndo, isVain }: Bar,
  scale: TimeScale,
  middle: number,
): readonly Shape[] {
  const { x, width } = barOf(scale, startAt, endAt)
  const high = isUndo || state === 'waiting' ? 5 : BAR
  const look = `${isVain ? 'attempt' : 'bar'} ${stateClass(state)}`
  const bar = shape('rect', {
    class: look,
    x: px(x),
    y: px(middle - high / 2),
    width: px(width),
    height: high,
    rx: 1.5,
  })
  return isUndo ? [bar, glyph(state, x + width + 3, middle - 5, 10)] : [bar]
}
