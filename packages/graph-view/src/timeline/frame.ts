import { type Shape, shape } from '../drawing.ts'
import { stateClass } from '../glyphs.ts'
import { numberBadge } from '../numbers.ts'
import { ticksOf } from '../scale.ts'
import { fitText, px, safeText, textShape, textWidth } from '../text.ts'
import { clockText, countText, span, zoneText } from '../time.ts'
import type { Plan } from './plan.ts'

const TOP = 20
export const LABELS_HEIGHT = TOP
export const HATCH = 'belay-hatch'

/** What is drawn, from a height to another. */
interface Range {
  readonly y: number
  readonly height: number
}

/** All that stands behind the rows: times, folds, the drain, now, the axis. */
export function drawGround(plan: Plan, range: Range): readonly Shape[] {
  const { width, axis, scale, times, height } = plan
  const start = shape('path', { class: 'grid-start', d: `M${px(scale.x(times.startAt))} ${TOP}V${height}` })
  return [
    ...folds(plan, range),
    ...header(plan),
    start,
    ...drain(plan),
    shape('path', { class: 'axis', d: `M0 ${px(axis)}H${width}` }),
  ]
}

function line(plan: Plan, name: string, x: number): Shape {
  return shape('path', { class: name, d: `M${px(x)} ${TOP}V${plan.height}` })
}

function folds({ scale, height }: Plan, range: Range): readonly Shape[] {
  // In steps of two teeth, so that they stand still while the view moves.
  const top = TOP + Math.max(0, Math.floor((range.y - TOP) / 16)) * 16
  const bottom = Math.min(height, range.y + range.height)
  const teeth = Array.from({ length: Math.max(0, Math.ceil((bottom - top) / 8)) }, (_, index) =>
    index % 2 === 0 ? 'l4 4l-4 4' : 'l-4 4l4 4',
  ).join('')
  return scale.segments
    .filter(({ fold }) => fold)
    .flatMap(({ x, width }) => [
      shape('rect', { class: 'fold', x: px(x), y: TOP, width: px(width), height: height - TOP }),
      shape('path', {
        class: 'edge-of-fold',
        d: [x, x + width].map((edge) => `M${px(edge)} ${top}${teeth}`).join(''),
      }),
    ])
}

function drain(plan: Plan): readonly Shape[] {
  const { stoppedAt, drainedAt, at, scale, height } = plan
  if (stoppedAt === undefined) return []
  const [x, end] = [scale.x(stoppedAt), scale.x(drainedAt ?? at)]
  const box = { x: px(x), y: TOP, width: px(Math.max(1, end - x)), height: height - TOP }
  return [
    shape('rect', { ...box, fill: `url(#${HATCH})` }),
    line(plan, 'stop', x),
    ...(drainedAt === undefined ? [] : [line(plan, 'drained', end)]),
  ]
}

/** Labels keep clear of each other, those that matter most come first: now, the begin, the folds, then the ticks. */
function header(plan: Plan): readonly Shape[] {
  const { scale, live, at, run, zone, narrow, times, left, width } = plan
  const taken: (readonly [number, number])[] = []
  const label = (text: string, x: number, look: string): readonly Shape[] => {
    const half = textWidth(text, 11) / 2 + 4
    const middle = Math.min(x, width - half)
    if (middle - half < (narrow ? 0 : left - 60)) return []
    if (taken.some(([from, to]) => middle + half > from && middle - half < to)) return []
    taken.push([middle - half, middle + half])
    return [shape('text', { class: look, x: px(middle), y: 14, 'text-anchor': 'middle' }, text)]
  }
  const isNow = at >= run.readAt && run.finishedAt === undefined
  const now = live
    ? [
        line(plan, 'now', scale.x(at)),
        ...label(isNow ? 'now' : clockText(at, zone), scale.x(at), 'axis-text strong'),
      ]
    : []
  const begin = narrow ? [] : label(clockText(times.startAt, zone), scale.x(times.startAt), 'axis-text')
  const folded = scale.segments
    .filter(({ fold }) => fold)
    .flatMap((fold) => {
      const text = span(fold.endAt - fold.startAt)
      const short = narrow ? fitText(text.split(' ').slice(0, 2).join(' '), fold.width + 8, 11) : `⋯ ${text}`
      return label(short, fold.x + fold.width / 2, 'axis-text')
    })
  const ticks = ticksOf(scale, { zone, gap: narrow ? 70 : 92 })
    .filter(({ x }) => Math.abs(x - scale.x(times.startAt)) > 8)
    .flatMap((tick) => [line(plan, 'grid', tick.x), ...label(tick.label, tick.x, 'axis-text')])
  const zoneName = narrow ? [] : [shape('text', { class: 'axis-text', x: 4, y: 14 }, zoneText(at, zone))]
  return [...ticks, ...begin, ...folded, ...now, ...zoneName]
}

/** What the header says, without its lines. */
export function drawLabels(plan: Plan): readonly Shape[] {
  return header(plan).filter(({ tag }) => tag === 'text')
}

/** Over the rows: what stopped it, the drain, the names of the halves, the preview. */
export function drawMarks(plan: Plan, range: Range): readonly Shape[] {
  const { axis, narrow, hasUndo, preview, stoppedAt } = plan
  const previews = plan.previewTop - axis > 15 && !hasUndo
  const halves = narrow
    ? []
    : [
        shape('text', { class: 'axis-text halo', x: 4, y: px(axis - 5) }, 'forward ↑'),
        ...(hasUndo ? [shape('text', { class: 'axis-text halo', x: 4, y: px(axis + 15) }, 'undo ↓')] : []),
      ]
  const nothing = preview.length === 0 ? ', if it stopped now: nothing' : ', if it stopped now'
  const title = previews
    ? [
        shape(
          'text',
          { class: 'axis-text halo', x: narrow ? plan.left : 4, y: px(axis + 15) },
          `undo ↓${nothing}`,
        ),
      ]
    : []
  return [
    ...halves,
    ...title,
    ...(stoppedAt === undefined ? [] : stopMarks(plan, stoppedAt)),
    ...previewRows(plan, range),
  ]
}

function stopMarks(plan: Plan, stoppedAt: number): readonly Shape[] {
  const { scale, drainedAt, at, axis, narrow, width, zone, left } = plan
  const [x, end] = [scale.x(stoppedAt), scale.x(drainedAt ?? at)]
  const length = span((drainedAt ?? at) - stoppedAt)
  const stopped = narrow ? 'stopped' : `stopped ${clockText(stoppedAt, zone)}`
  const drained =
    drainedAt === undefined
      ? 'draining'
      : narrow
        ? `drain ${length}`
        : `drained after ${length}, the undo begins`
  const beforeStop = x - 6 - textWidth(stopped, 11) > (narrow ? 0 : left - 90)
  const look = (state: 'failed' | 'undoing') => ({ class: `halo tone small ${stateClass(state)}`, size: 11 })
  const fits = end + 8 + textWidth(drained, 11) < width
  const place = beforeStop ? { x: px(x - 6), 'text-anchor': 'end' } : { x: px(x + 6) }
  const below = fits
    ? { x: px(end + 6) }
    : { x: px(Math.max(x - 6, textWidth(drained, 11) + 8)), 'text-anchor': 'end' }
  return [
    textShape(stopped, { ...look('failed'), ...place, y: px(axis - 4) }),
    textShape(drained, { ...look('undoing'), ...below, y: px(axis + 15) }),
  ]
}

function previewRows({ preview, previewTop, left, narrow, width }: Plan, range: Range): readonly Shape[] {
  return preview.flatMap(({ step, number, items }, index) => {
    const y = previewTop + 12 + index * 24
    if (y + 12 < range.y || y - 12 > range.y + range.height) return []
    const name = fitText(step.name, narrow ? width * 0.5 : left - 38)
    const words = `would be undone${items === undefined ? '' : `, ${countText(items, 'item')}`}`
    const note = shape('tspan', { class: 'dim small', dx: 6 }, words)
    const whole = name === step.name ? [] : [shape('title', {}, safeText(step.name))]
    return [
      numberBadge(number, 'to undo', { x: 11, y, planned: true }),
      shape('text', { class: 'name halo', x: 26, y: px(y + 4) }, ...whole, safeText(name), ' ', note),
    ]
  })
}
