import { type Shape, shape } from '../drawing.ts'
import { stateClass } from '../glyphs.ts'
import type { LayoutEdge, Point } from '../layout.ts'
import { px, safeText } from '../text.ts'
import type { Scene } from './scene.ts'

/** An edge that was taken is a line, the others are dashed. */
export function drawEdge({ states, vertical }: Scene, { from, to, points }: LayoutEdge): Shape {
  const state = states.get(to)?.forward ?? 'pending'
  const taken = !['pending', 'ready', 'skipped', 'cancelled'].includes(state)
  const names = { 'data-from': safeText(from), 'data-to': safeText(to) }
  return shape('path', { class: taken ? 'edge taken' : 'edge', d: curve(points, vertical), ...names })
}

/** How far the arrow back runs beside its edge. */
const BESIDE = 11

/** An arrow from the dependent's undo to the one that follows it: dashed until that has begun. */
export function drawUndoEdge(
  { states, order, vertical }: Scene,
  { from, to, points }: LayoutEdge,
): readonly Shape[] {
  if (!order.has(from) || !order.has(to)) return []
  const [before, after] = [states.get(to)?.undo, states.get(from)?.undo]
  const begun = before === 'undone' && after !== undefined && after !== 'to undo'
  const tone = stateClass(before === 'parked' ? 'parked' : 'undoing')
  const beside = points.map(({ x, y }) => (vertical ? { x: x + BESIDE, y } : { x, y: y + BESIDE }))
  const tip = beside[0]!
  const start = vertical ? { x: tip.x, y: tip.y + 8 } : { x: tip.x + 8, y: tip.y }
  const head = vertical
    ? `M${px(tip.x)} ${px(tip.y + 1)}l-4.5 9h9z`
    : `M${px(tip.x + 1)} ${px(tip.y)}l9 -4.5v9z`
  return [
    shape('path', {
      class: `undo-edge ${begun ? '' : 'planned '}${tone}`,
      d: curve([start, ...beside.slice(1)], vertical),
    }),
    shape('path', { class: `arrow ${tone}`, d: head }),
  ]
}

/** Straight and bent in turn, as the layout says. */
export function curve(points: readonly Point[], vertical: boolean): string {
  const [first, ...rest] = points
  const parts = rest.map(({ x, y }, index) => {
    const last = points[index]!
    if (index % 2 === 0 || (vertical ? last.x === x : last.y === y)) return `L${px(x)} ${px(y)}`
    const middle = vertical ? px((last.y + y) / 2) : px((last.x + x) / 2)
    return vertical
      ? `C${px(last.x)} ${middle} ${px(x)} ${middle} ${px(x)} ${px(y)}`
      : `C${middle} ${px(last.y)} ${middle} ${px(y)} ${px(x)} ${px(y)}`
  })
  return `M${px(first!.x)} ${px(first!.y)}${parts.join('')}`
}
