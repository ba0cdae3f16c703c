import { roundOf } from '../attempts.ts'
import { type Shape, shape } from '../drawing.ts'
import { glyph, stateClass } from '../glyphs.ts'
import { drawMarks, marksWidth } from '../marks.ts'
import { numberBadge } from '../numbers.ts'
import { readyAt } from '../state.ts'
import { fitText, px, safeText, textShape, textWidth, visibleText } from '../text.ts'
import { rowBars } from './bars.ts'
import { lanesHeight, type Plan, type PlannedRow } from './plan.ts'
import { errorOf, forwardWords, noteWords, parkedWords, undoWords } from './words.ts'

export interface TimelineRow {
  /** `f:charge`, or `u:charge` for its undo. */
  readonly id: string
  readonly step: string
  readonly direction: 'forward' | 'undo'
  readonly y: number
  readonly height: number
  /** Where its bars begin and end, and the height of their middle. */
  readonly x1: number
  readonly x2: number
  readonly center: number
  /** Begins with the visible text. */
  readonly label: string
  /** Of a parked undo: where its buttons have room. */
  readonly actions?: { readonly x: number; readonly y: number } | undefined
}

const NAME_X = 26

export function drawRow(
  plan: Plan,
  row: PlannedRow,
  isStop: boolean,
): { readonly shape: Shape; readonly row: TimelineRow } {
  const { id, step, direction, y, height, center } = row
  const [x1, x2] = extent(plan, row)
  const inside = direction === 'forward' ? forwardRow(plan, row) : undoRow(plan, row)
  const label = `${visibleText(inside)}; ${safeText(spoken(plan, row))}`
  const ground = shape('rect', {
    class: 'ground',
    x: 0,
    y: px(y + 1),
    width: plan.width,
    height: px(height - 2),
    rx: 4,
  })
  const group = {
    class: 'row',
    'data-row': safeText(id),
    role: 'button',
    tabindex: isStop ? 0 : -1,
    'aria-label': label,
  }
  const spaced = inside.flatMap((part) => (part.tag === 'text' ? [part, ' '] : [part]))
  const place = { x1: px(x1), x2: px(x2), center: px(center), label, actions: actionsAt(plan, row) }
  return {
    shape: shape('g', group, ground, ...spaced),
    row: { id, step: step.name, direction, y: px(y), height: px(height), ...place },
  }
}

function actionsAt(plan: Plan, row: PlannedRow): TimelineRow['actions'] {
  if (row.direction === 'forward' || row.state.undo !== 'parked') return undefined
  const below = row.y + row.height - (plan.narrow ? 34 : 31)
  return plan.narrow ? { x: plan.left, y: below } : { x: plan.width - 34 - plan.actions, y: below }
}

/** From the begin of the first bar to the end of the last one. */
export function extent(
  { at, scale, drainedAt, left }: Plan,
  { attempts, direction }: PlannedRow,
): readonly [number, number] {
  const [first, last] = [attempts[0], attempts.at(-1)]
  if (first === undefined || last === undefined) {
    const x = direction === 'forward' ? left : scale.x(drainedAt ?? at)
    return [x, x]
  }
  const x1 = scale.x(first.startAt)
  return [x1, Math.max(x1 + 2.5, scale.x(Math.min(at, last.endAt ?? at)))]
}

function forwardRow(plan: Plan, row: PlannedRow): readonly Shape[] {
  const { narrow, left } = plan
  const { state, y, center } = row
  const icon = narrow ? glyph(state.forward, left, y + 2, 12) : glyph(state.forward, 4, center - 7)
  const words = forwardWords(plan, row)
  const tone = state.forward === 'failed' ? `tone ${stateClass('failed')}` : ''
  const label = beside(plan, row, words, tone)
  // The line would run through a label to the left of the bars.
  const isLeft = label.some(({ attributes }) => attributes['text-anchor'] === 'end')
  return [
    icon,
    nameOf(plan, row),
    ...marks(plan, row),
    ...(isLeft ? [] : queue(plan, row)),
    ...rowBars(plan, row),
    ...label,
  ]
}

/** A thin line from the moment at which a step could begin to its first attempt. */
function queue(plan: Plan, { step, attempts, center }: PlannedRow): readonly Shape[] {
  const { run, round, scale, at } = plan
  const first = attempts[0]
  if ((first?.attempt ?? 1) > 1 || roundOf(step, round) < round) return []
  const from = scale.x(readyAt(run, step, round))
  const to = scale.x(first?.startAt ?? at)
  return to - from < 1 ? [] : [shape('path', { class: 'queue', d: `M${px(from)} ${px(center)}H${px(to)}` })]
}

function undoRow(plan: Plan, row: PlannedRow): readonly Shape[] {
  const { narrow, order, at, scale, left } = plan
  const { step, state, center, y, nothing } = row
  if (nothing) return [nothingText(plan, row)]
  const badge = numberBadge(
    order.get(step.name) ?? 0,
    state.undo!,
    narrow ? { x: left + 8, y: y + 8 } : { x: 11, y: center },
  )
  const inside = [badge, nameOf(plan, row, state.undo === 'to undo' ? noteWords(plan, row) : '')]
  if (state.undo === 'to undo') return [...inside, toUndoBox(plan, row)]
  const bars = rowBars(plan, row)
  if (state.undo !== 'parked') return [...inside, ...bars, ...beside(plan, row, undoWords(plan, row), '')]
  const [, x2] = extent(plan, row)
  const dashes = {
    class: `parked-line ${stateClass('parked')}`,
    d: `M${px(x2 + 14)} ${px(center)}H${px(scale.x(at))}`,
  }
  const line = scale.x(at) > x2 + 16 ? [shape('path', dashes)] : []
  return [...inside, ...bars, ...line, glyph('parked', x2 - 1, center - 8, 16), ...parkedNote(plan, row)]
}

function nothingText(plan: Plan, row: PlannedRow): Shape {
  const { narrow, left, width } = plan
  const x = narrow ? left : NAME_X
  const name = fitText(row.step.name, narrow ? width * 0.4 : left - NAME_X - 10)
  const whole = name === row.step.name ? [] : [shape('title', {}, safeText(row.step.name))]
  const note = fitText(noteWords(plan, row), width - x - textWidth(name) - 16, 11)
  const attributes = { class: 'dim halo', x, y: px(row.center + 4) }
  return shape(
    'text',
    attributes,
    ...whole,
    safeText(name),
    ' ',
    shape('tspan', { class: 'dim small', dx: 6 }, safeText(note)),
  )
}

/** Behind the name. */
function marks(plan: Plan, row: PlannedRow): readonly Shape[] {
  const { x, baseline, used } = nameRoom(plan, row)
  return drawMarks(row.step, { x: x + used, y: baseline })
}

function nameRoom({ narrow, left, width }: Plan, { step, y, center, direction }: PlannedRow) {
  const [x, baseline] = narrow ? [left + 20, y + 12] : [NAME_X, center + 4]
  const count = step.items === undefined ? '' : `×${step.items.total.toLocaleString('en-GB')}`
  const more = count === '' ? 0 : textWidth(count) + 6
  const marked = direction === 'forward' ? marksWidth(step) : 0
  const room = (narrow ? width * 0.55 : left - NAME_X - 12) - more - marked
  return { x, baseline, count, room, used: textWidth(fitText(step.name, room)) + more }
}

function nameOf(plan: Plan, row: PlannedRow, note = ''): Shape {
  const { step } = row
  const { width } = plan
  const { x, baseline, count, room, used } = nameRoom(plan, row)
  const words = fitText(note, width - x - used - 18, 11)
  const more = [
    ...(count === '' ? [] : [' ', shape('tspan', { class: 'dim' }, count)]),
    ...(note === '' ? [] : [' ', shape('tspan', { class: 'dim small', dx: 6 }, safeText(words))]),
  ]
  return textShape(
    step.name,
    { class: `name${note === '' ? '' : ' halo'}`, x: px(x), y: px(baseline), widthMax: room },
    ...more,
  )
}

/** To the right of the bars; to their left near the edge; in a narrow drawing else beside the name, in a wide one on the bar. */
function beside(plan: Plan, row: PlannedRow, words: string, tone: string): readonly Shape[] {
  if (words === '') return []
  const { left, width, narrow } = plan
  const [x1, x2] = extent(plan, row)
  const long = textWidth(words)
  const y = px(row.center + 4)
  const look = { class: `halo ${tone}`.trim(), y }
  if (x2 + 10 + long < width - 4) return [textShape(words, { ...look, x: px(x2 + 8) })]
  if (x1 - 10 - long > left) return [textShape(words, { ...look, x: px(x1 - 8), 'text-anchor': 'end' })]
  const end = { x: px(width - 8), 'text-anchor': 'end' }
  const count = row.step.items === undefined ? 0 : textWidth(`×${row.step.items.total}`) + 6
  const nameEnd = left + 34 + textWidth(row.step.name.slice(0, 100)) + count
  if (narrow)
    return [
      textShape(words, {
        ...look,
        ...end,
        y: px(row.y + 12),
        widthMax: width - 8 - Math.min(nameEnd, width * 0.62),
      }),
    ]
  // Over the bars of a map nobody could read it.
  if (lanesHeight(row) > 0)
    return [
      textShape(words, {
        class: `small ${tone}`.trim(),
        x: NAME_X,
        y: px(row.center + 19),
        widthMax: left - NAME_X - 10,
      }),
    ]
  return [textShape(words, { ...look, ...end, x: px(x2 - 8), widthMax: Math.max(60, x2 - left - 16) })]
}

/** Dashed: it has not begun, and nobody knows how long it will take. */
function toUndoBox(
  { at, scale, drainedAt, stoppedAt, undoneUntil, barHeight }: Plan,
  { center }: PlannedRow,
): Shape {
  const from = scale.x(Math.max(undoneUntil, drainedAt ?? stoppedAt ?? at)) + 6
  const x = Math.min(from, scale.x(at) - 8)
  const box = {
    x: px(x),
    y: px(center - barHeight / 2 + 0.6),
    width: px(scale.x(at) - x - 2),
    height: barHeight - 1.2,
  }
  return shape('rect', { class: `to-undo ${stateClass('to undo')}`, ...box, rx: 2.5 })
}

function parkedNote(plan: Plan, row: PlannedRow): readonly Shape[] {
  const words = parkedWords(plan, row)
  const { narrow, width, left, actions, rowHeight } = plan
  const look = { class: `halo tone ${stateClass('parked')}` }
  const top = row.y + row.height - (narrow && actions > 0 ? 36 : 0)
  if (!narrow) {
    const end = width - 34 - (actions === 0 ? 0 : actions + 8)
    return [
      textShape(words, { ...look, x: px(end), y: px(top - 12), 'text-anchor': 'end', widthMax: end - 30 }),
    ]
  }
  const room = width - left - 12
  const head = fitText(words, room)
  if (head === words) return [textShape(words, { ...look, x: left, y: px(top - 22) })]
  const cut = head.lastIndexOf(' ') > rowHeight / 2 ? head.lastIndexOf(' ') : head.length - 1
  return [
    textShape(words.slice(0, cut), { ...look, x: left, y: px(top - 24) }),
    textShape(words.slice(cut).trim(), { ...look, x: left, y: px(top - 9), widthMax: room }),
  ]
}

/** What the picture shows and its texts do not say. */
function spoken(plan: Plan, row: PlannedRow): string {
  const { step, state, direction, attempts, nothing } = row
  if (nothing) return `undo of ${step.name}, ${noteWords(plan, row)}`
  if (direction === 'forward') {
    const error =
      state.forward === 'failed' || state.forward === 'waiting' ? errorOf(attempts, step.error) : undefined
    return `${step.name}, forward, ${state.forward}${error === undefined ? '' : `: ${error}`}`
  }
  const error = state.undo === 'parked' ? errorOf(attempts, step.undo?.error) : undefined
  const place = `undo ${plan.order.get(step.name) ?? 0} of ${plan.order.size}: ${step.name}, ${state.undo}`
  return `${place}${error === undefined ? '' : `: ${error}`}`
}
