import { type Shape, shape } from '../drawing.ts'
import { type GlyphState, glyphOf, stateClass } from '../glyphs.ts'
import type { ViewAttempt, ViewItem } from '../model.ts'
import { barOf } from '../scale.ts'
import { px } from '../text.ts'
import { lanesHeight, type Plan, type PlannedRow } from './plan.ts'

/** The attempts of a row, or the items of a map. */
export function rowBars(plan: Plan, row: PlannedRow): readonly Shape[] {
  if (lanesHeight(row) > 0) return itemBars(plan, row)
  const known = row.attempts
  return known.flatMap((attempt, index) => {
    const before = known[index - 1]
    return [
      ...(before === undefined ? [] : pause(plan, row, before, attempt)),
      ...attemptBar(plan, row, attempt, index === known.length - 1),
      ...(known.length > 1 || attempt.attempt > 1 ? [begin(plan, row, attempt)] : []),
    ]
  })
}

function begin({ scale, barHeight }: Plan, { center }: PlannedRow, { startAt }: ViewAttempt): Shape {
  const x = px(scale.x(startAt))
  return shape('path', { class: 'begin', d: `M${x} ${px(center - barHeight / 2 - 3)}v${barHeight + 5}` })
}

function pause(
  { scale }: Plan,
  { center, direction }: PlannedRow,
  before: ViewAttempt,
  next: ViewAttempt,
): readonly Shape[] {
  const [from, to] = [scale.x(before.endAt ?? next.startAt), scale.x(next.startAt)]
  if (to <= from) return []
  const failed = before.ended !== 'waiting' && before.ended !== 'completed' && before.ended !== 'released'
  const state = direction === 'forward' ? 'failed' : 'undoing'
  return [
    shape('path', {
      class: failed ? `pause ${stateClass(state)}` : 'queue',
      d: `M${px(from)} ${px(center)}H${px(to)}`,
    }),
  ]
}

function attemptBar(plan: Plan, row: PlannedRow, attempt: ViewAttempt, isLast: boolean): readonly Shape[] {
  const { at, scale, barHeight, stoppedAt } = plan
  const { direction, center } = row
  const { startAt, endAt, ended } = attempt
  const isOpen = endAt === undefined || endAt > at
  const { x, width } = barOf(scale, startAt, isOpen ? at : endAt)
  const box = { x, width, y: center - barHeight / 2, height: barHeight }
  const failed = isLast && direction === 'forward' && row.state.forward === 'failed'
  if (ended === 'waiting') {
    const state = isOpen ? 'waiting' : failed ? 'failed' : 'completed'
    return [bar(state, { ...box, y: center - barHeight / 4, height: barHeight / 2 })]
  }
  if (isOpen) {
    if (direction === 'forward') return [bar('running', box)]
    const flow = `M${px(x + width)} ${px(center)}H${px(x)}`
    return [bar('undoing', box), shape('path', { class: 'flow', d: flow, 'stroke-width': barHeight - 6 })]
  }
  if (ended === 'completed' || ended === 'skipped') {
    if (direction === 'undo') return [bar('undoing', box)]
    const isLate = stoppedAt !== undefined && startAt < stoppedAt && endAt > stoppedAt
    return isLate ? lateBars(plan, box, stoppedAt) : [bar('completed', box)]
  }
  return failedBar(box, direction === 'forward' ? 'failed' : 'undoing', {
    final: failed,
    lost: ended !== 'failed' && ended !== 'retrying',
  })
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function bar(state: GlyphState, box: Box, name = 'bar'): Shape {
  return shape('rect', { class: `${name} ${stateClass(state)}`, ...rounded(box), rx: 2.5 })
}

function rounded({ x, y, width, height }: Box, inset = 0): Box {
  const [w, h] = [Math.max(1.3, width - 2 * inset), height - 2 * inset]
  return { x: px(x + inset), y: px(y + inset), width: px(w), height: px(h) }
}

/** It succeeded although its run had stopped: the part after the stop is pale. */
function lateBars({ scale }: Plan, box: Box, stoppedAt: number): readonly Shape[] {
  const stop = scale.x(stoppedAt)
  const late = { ...box, x: stop, width: Math.max(1.3, box.x + box.width - stop) }
  return [
    bar('completed', { ...box, width: Math.max(1, stop - box.x) }),
    shape('rect', { class: 'late s-completed', ...rounded(late, 0.6) }),
    shape('rect', { class: 'late-part s-completed', ...rounded(late, 0.6) }),
  ]
}

/** Hollow with a cross, as the colour alone does not tell a failed attempt. The last one of a step that gave up is filled. */
function failedBar(
  box: Box,
  state: GlyphState,
  { final, lost }: { final: boolean; lost: boolean },
): readonly Shape[] {
  const [x, y] = [px(box.x + box.width - 9), px(box.y + box.height / 2 - 2.5)]
  const tone = stateClass(state)
  const outline = { ...rounded(box, 0.6), rx: 2 }
  const body = final
    ? [shape('rect', { class: `attempt final ${tone}`, ...outline })]
    : [
        shape('rect', { class: `attempt ${lost ? 'lost ' : ''}${tone}`, ...outline }),
        shape('rect', { class: `soft ${tone}`, ...outline }),
      ]
  if (box.width <= 12) return body
  return [
    ...body,
    shape('path', { class: `${final ? 'cross-final' : 'cross'} ${tone}`, d: `M${x} ${y}l5 5m0-5l-5 5` }),
  ]
}

/** Each item a thin bar, in the first lane that is free when it begins. */
function itemBars(plan: Plan, row: PlannedRow): readonly Shape[] {
  const { at, scale, barHeight } = plan
  const extent = barHeight + lanesHeight(row)
  const begun = row.step
    .items!.some.flatMap((item) => itemTimes(item, row.direction))
    .filter(({ startAt }) => startAt <= at)
    .sort((a, b) => a.startAt - b.startAt)
  const free: number[] = []
  const lanes = begun.map(({ startAt, endAt = Number.POSITIVE_INFINITY }) => {
    const open = free.findIndex((from) => from <= startAt)
    const lane = open === -1 ? free.length : open
    free[lane] = endAt
    return lane
  })
  const count = Math.max(6, Math.min(free.length, Math.floor(extent / 2)))
  const step = extent / count
  const top = row.center - extent / 2
  return begun.map(({ startAt, endAt, status }, index) => {
    const isOpen = endAt === undefined || endAt > at
    const { x, width } = barOf(scale, startAt, isOpen ? at : endAt)
    const running = row.direction === 'forward' ? 'running' : 'undoing'
    const box = {
      x: px(x),
      y: px(top + (lanes[index]! % count) * step),
      width: px(Math.max(1, width - 0.7)),
      height: px(Math.max(1, step - 0.8)),
    }
    return shape('rect', {
      class: `bar ${stateClass(isOpen ? running : itemState(status, row.direction))}`,
      ...box,
    })
  })
}

function itemTimes(item: ViewItem, direction: ViewAttempt['direction']) {
  const [startAt, endAt] =
    direction === 'forward' ? [item.startAt, item.endAt] : [item.undoStartAt, item.undoEndAt]
  return startAt === undefined ? [] : [{ startAt, endAt, status: item.status }]
}

/** Forward, an item that is undone later had completed. */
function itemState(status: ViewItem['status'], direction: ViewAttempt['direction']): GlyphState {
  if (direction === 'undo') return status === 'compensation_failed' ? 'parked' : 'undoing'
  return ['failed', 'cancelled', 'skipped'].includes(status) ? glyphOf(status) : 'completed'
}
