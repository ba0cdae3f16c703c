import { type Drawing, type Shape, shape } from './drawing.ts'
import type { ViewRun } from './model.ts'
import type { TimeScale } from './scale.ts'
import { px, safeText } from './text.ts'
import { drawGround, drawLabels, drawMarks, HATCH, LABELS_HEIGHT } from './timeline/frame.ts'
import { links, type Plan, type PlannedRow, planTimeline, type TimelineOptions } from './timeline/plan.ts'
import { drawRow, extent, type TimelineRow } from './timeline/row.ts'

export interface Timeline extends Drawing, Pick<Plan, 'notBegun'> {
  /** Those that are drawn, from top to bottom. */
  readonly rows: readonly TimelineRow[]
  /** For a line that follows the pointer. */
  readonly scale: TimeScale
}

/** Which part of a timeline is drawn. */
export interface TimelinePart {
  /** Only rows between these heights, in pixels of the drawing. Default all. */
  readonly view?: { readonly y: number; readonly height: number } | undefined
  /** The `data-row` that has the tab stop, drawn even outside of the view. Default the first row. */
  readonly stop?: string | undefined
}

/**
 * A run as a timeline at an instant: forward steps above the axis, their undo mirrored beneath it. Its looks are the classes of {@link drawingStyle}. A `g` with
 * `data-row` is a row; only one has a tab stop.
 */
export function drawTimeline(run: ViewRun, options: TimelineOptions = {}): Timeline {
  return drawPlan(planTimeline(run, options))
}

/** The timeline that was planned, or a part of it. */
export function drawPlan(plan: Plan, { view, stop }: TimelinePart = {}): Timeline {
  const isStop = ({ id }: PlannedRow, index: number) =>
    stop === undefined ? index === 0 : safeText(id) === stop
  const range = view ?? { y: 0, height: plan.height }
  const isSeen = ({ y, height }: PlannedRow) => y <= range.y + range.height && y + height >= range.y
  const rows = plan.rows.flatMap((row, index) => {
    const isOwn = isStop(row, index)
    return isOwn || isSeen(row) ? [drawRow(plan, row, isOwn)] : []
  })
  const hatch = {
    id: HATCH,
    width: 6,
    height: 6,
    patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)',
  }
  const pattern = shape('pattern', hatch, shape('rect', { class: 'hatch-line', width: 1.4, height: 6 }))
  const inside = [...drawGround(plan, range), ...rows.map((row) => row.shape), ...drawMarks(plan, range)]
  return {
    width: plan.width,
    height: plan.height,
    shapes: [shape('g', { class: 'belay timeline' }, shape('defs', {}, pattern), ...inside)],
    rows: rows.map(({ row }) => row),
    scale: plan.scale,
    notBegun: plan.notBegun,
  }
}

/** The labels of the time axis alone: to stay in sight while the rows scroll. */
export function drawAxis(plan: Plan): Drawing {
  return {
    width: plan.width,
    height: LABELS_HEIGHT,
    shapes: [shape('g', { class: 'belay timeline' }, ...drawLabels(plan))],
  }
}

/** More lines than these cannot be told apart. */
const LINKS_MAX = 50

/** Lines from what a row waits for to the row: for the hover, over the drawing. `id`: a `data-row`. Undefined for no row. */
export function drawLinks(plan: Plan, id: string): Shape | undefined {
  const row = plan.rows.find((one) => safeText(one.id) === id)
  if (row === undefined) return undefined
  const before = new Set(links(plan.run, { ...row, step: row.step.name }).waitsFor)
  const [end] = extent(plan, row)
  const lines = plan.rows
    .filter((one) => before.has(one.id))
    .slice(0, LINKS_MAX)
    .flatMap((one) => {
      const [, start] = extent(plan, one)
      return link({ x: start, y: one.center }, { x: end, y: row.center })
    })
  return shape('g', { class: 'belay' }, ...lines)
}

interface End {
  readonly x: number
  readonly y: number
}

function link(from: End, to: End): readonly Shape[] {
  const turn = px((from.x + Math.max(Math.min(from.x, to.x) + 3, to.x - 4)) / 2)
  const dot = ({ x, y }: End) => shape('circle', { class: 'link-end', cx: px(x), cy: px(y), r: 2.5 })
  const d = `M${px(from.x)} ${px(from.y)}H${turn}V${px(to.y)}H${px(to.x)}`
  return [shape('path', { class: 'link', d }), dot(from), dot(to)]
}
