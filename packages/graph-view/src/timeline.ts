import { type Drawing, type Shape, shape } from './drawing.ts'
import type { ViewRun } from './model.ts'
import type { TimeScale } from './scale.ts'
import { stateAt } from './state.ts'
import { px } from './text.ts'
import { drawGround, drawMarks, HATCH } from './timeline/frame.ts'
import { links, type Plan, planTimeline, type TimelineOptions } from './timeline/plan.ts'
import { drawRow, type TimelineRow } from './timeline/row.ts'

export interface Timeline extends Drawing {
  /** From top to bottom. */
  readonly rows: readonly TimelineRow[]
  /** For a line that follows the pointer. */
  readonly scale: TimeScale
  /** The steps without a row, and why. */
  readonly notBegun: readonly { readonly step: string; readonly why: string }[]
}

/**
 * A run as a timeline at an instant: forward steps above the axis, their undo mirrored beneath it. Its looks are the classes of {@link drawingStyle}. A `g` with
 * `data-row` is a row; only the first has a tab stop.
 */
export function drawTimeline(run: ViewRun, options: TimelineOptions = {}): Timeline {
  const plan = planTimeline(run, options)
  const rows = plan.rows.map((row, index) => drawRow(plan, row, index === 0))
  const hatch = {
    id: HATCH,
    width: 6,
    height: 6,
    patternUnits: 'userSpaceOnUse',
    patternTransform: 'rotate(45)',
  }
  const pattern = shape('pattern', hatch, shape('rect', { class: 'hatch-line', width: 1.4, height: 6 }))
  const inside = [...drawGround(plan), ...rows.map((row) => row.shape), ...drawMarks(plan)]
  return {
    width: plan.width,
    height: plan.height,
    shapes: [shape('g', { class: 'belay timeline' }, shape('defs', {}, pattern), ...inside)],
    rows: rows.map(({ row }) => row),
    scale: plan.scale,
    notBegun: notBegun(plan),
  }
}

function notBegun({ run, at, round, rows, stoppedAt }: Plan): Timeline['notBegun'] {
  const shown = new Set(rows.map(({ step }) => step.name))
  return run.steps
    .filter(({ name }) => !shown.has(name))
    .map((step) => {
      const { forward } = stateAt(run, step, at, round)
      if (forward === 'skipped')
        return { step: step.name, why: `skipped${step.skipped === undefined ? '' : `: ${step.skipped}`}` }
      if (forward === 'cancelled') return { step: step.name, why: 'cancelled before it began' }
      return {
        step: step.name,
        why: stoppedAt === undefined ? 'not begun' : 'not begun when the run stopped',
      }
    })
}

/** Lines from what a row waits for to the row: for the hover, over the drawing. */
export function drawLinks(run: ViewRun, { rows }: Timeline, id: string): readonly Shape[] {
  const row = rows.find((one) => one.id === id)
  if (row === undefined) return []
  const before = new Set(links(run, row).waitsFor)
  return rows
    .filter((one) => before.has(one.id))
    .flatMap((one) => {
      const turn = px((one.x2 + Math.max(Math.min(one.x2, row.x1) + 3, row.x1 - 4)) / 2)
      const end = (x: number, y: number) => shape('circle', { class: 'link-end', cx: x, cy: y, r: 2.5 })
      const d = `M${one.x2} ${one.center}H${turn}V${row.center}H${row.x1}`
      return [shape('path', { class: 'link', d }), end(one.x2, one.center), end(row.x1, row.center)]
    })
}
