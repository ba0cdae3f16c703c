import { type Drawing, type Shape, shape } from './drawing.ts'
import { glyphOf, stateClass } from './glyphs.ts'
import type { StepStatus } from './model.ts'
import { px } from './text.ts'

/** A step as a list shows it. */
export interface StripStep {
  readonly status: StepStatus
  readonly items?: { readonly total: number; readonly ended: number; readonly failed: number } | undefined
}

export interface Strip extends Drawing {
  readonly label: string
}

const HEIGHT = 18
const GAP = 2
/** If steps share a cell, the first of these that one of them has is the cell's. */
export const LOUDEST: readonly StepStatus[] = [
  ...(['compensation_failed', 'failed', 'compensating', 'running', 'waiting', 'ready'] as const),
  ...(['pending', 'compensated', 'cancelled', 'completed', 'skipped'] as const),
]

/**
 * A run in a line of a list: a cell for each step, forward above and undo beneath it, as in the timeline. Steps that would be narrower than 4 pixels share a
 * cell. A run that has ended well is `pale`, so that it does not call.
 */
export function drawStrip(
  steps: readonly StripStep[],
  width = 140,
  { pale = false }: { readonly pale?: boolean } = {},
): Strip {
  const cells = cellsOf(steps, Math.max(1, Math.floor(width / (4 + GAP))))
  const weight = ({ items }: StripStep) => (items === undefined ? 1 : 2.4)
  const total = cells.reduce((sum, cell) => sum + weight(cell), 0)
  const unit = (width - GAP * (cells.length - 1)) / Math.max(1, total)
  const undoes = cells.some(({ status }) => status.startsWith('compens'))
  const lane = undoes ? { y: 1, height: 7 } : pale ? { y: 7, height: 4 } : { y: 5, height: 8 }
  let x = 0
  const shapes = cells.flatMap((cell) => {
    const box = { ...lane, x, width: Math.max(1, weight(cell) * unit) }
    x += box.width + GAP
    return [...forwardCell(cell, box, pale), ...undoCell(cell, box)]
  })
  return {
    width,
    height: HEIGHT,
    shapes: [shape('g', { class: 'belay strip' }, ...shapes)],
    label: labelOf(steps),
  }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function cellsOf(steps: readonly StripStep[], cellsMax: number): readonly StripStep[] {
  if (steps.length <= cellsMax) return steps
  return Array.from({ length: cellsMax }, (_, cell) => {
    const shared = steps.slice(
      Math.floor((cell * steps.length) / cellsMax),
      Math.floor(((cell + 1) * steps.length) / cellsMax),
    )
    return { status: LOUDEST.find((status) => shared.some((step) => step.status === status)) ?? 'pending' }
  })
}

function rect(name: string, { x, y, width, height }: Box): Shape {
  return shape('rect', {
    class: name,
    x: px(x),
    y: px(y),
    width: px(Math.max(0.5, width)),
    height: px(height),
    rx: 1,
  })
}

function forwardCell({ status, items }: StripStep, box: Box, pale: boolean): readonly Shape[] {
  const middle = box.y + box.height / 2
  const state = status.startsWith('compens') ? 'completed' : glyphOf(status)
  const tone = stateClass(state)
  const thin = rect('cell none', { ...box, y: middle - 1, height: 2 })
  const taller = { ...box, y: box.y - 1, height: box.height + 2 }
  if (state === 'pending' || state === 'cancelled') return [thin]
  if (state === 'skipped')
    return [shape('path', { class: `dashes ${tone}`, d: `M${px(box.x)} ${middle}h${px(box.width)}` })]
  if (state === 'ready') {
    const inset = { x: box.x + 0.75, y: box.y + 0.75, width: box.width - 1.5, height: box.height - 1.5 }
    return [rect(`outline ${tone}`, inset)]
  }
  if (state === 'waiting') {
    const apart = Math.min(4, box.width / 3.4)
    const dot = (place: number) =>
      shape('circle', {
        class: `cell ${tone}`,
        cx: px(box.x + box.width / 2 + place * apart),
        cy: middle,
        r: px(Math.min(1.5, apart / 2)),
      })
    return [-1, 0, 1].map(dot)
  }
  if (items !== undefined && state === 'running') return [thin, ...itemCells(items, box, taller)]
  if (state !== 'failed') return [rect(`cell ${pale && state === 'completed' ? 'pale ' : ''}${tone}`, box)]
  const cross = `M${px(box.x + box.width / 2 - 2.2)} ${px(middle - 2.2)}l4.4 4.4m0-4.4l-4.4 4.4`
  return [
    rect(`cell ${tone}`, taller),
    ...(box.width < 6 ? [] : [shape('path', { class: 'cell-cross', d: cross })]),
  ]
}

function itemCells(
  { total, ended, failed }: NonNullable<StripStep['items']>,
  box: Box,
  taller: Box,
): readonly Shape[] {
  const share = (count: number) => (box.width * count) / Math.max(1, total)
  const done = share(ended - failed)
  return [
    ...(ended > failed ? [rect('cell s-completed', { ...box, width: done })] : []),
    ...(failed > 0 ? [rect('cell s-failed', { ...taller, x: box.x + done, width: share(failed) })] : []),
    ...(total > ended
      ? [
          rect('cell s-running', {
            ...box,
            x: box.x + share(ended),
            width: Math.min(3, share(total - ended)),
          }),
        ]
      : []),
  ]
}

/** Each undo state has a shape of its own: a bar, an arrow to the left, a diamond. */
function undoCell({ status }: StripStep, { x, width }: Box): readonly Shape[] {
  const middle = x + width / 2
  const long = Math.max(1, width - 4)
  if (status === 'compensated') return [rect('cell s-undone', { x, width, y: 11, height: 4 })]
  if (status === 'compensating')
    return [shape('path', { class: 'cell s-undoing', d: `M${px(x)} 13l4-3.2h${px(long)}v6.4h-${px(long)}z` })]
  if (status !== 'compensation_failed') return []
  return [shape('path', { class: 'cell s-parked', d: `M${px(middle)} 8.9l4.2 4.2-4.2 4.2-4.2-4.2z` })]
}

function labelOf(steps: readonly StripStep[]): string {
  const count = (...statuses: readonly StepStatus[]) =>
    steps.filter(({ status }) => statuses.includes(status)).length
  const parts: readonly (readonly [number, string])[] = [
    [count('failed'), 'failed'],
    [count('compensated'), 'undone'],
    [count('compensating'), 'to undo'],
    [count('compensation_failed'), 'parked'],
  ]
  const more = parts.filter(([number]) => number > 0).map(([number, word]) => `, ${number} ${word}`)
  const done = count('completed', 'compensating', 'compensated', 'compensation_failed')
  return `${done} of ${steps.length} steps completed${more.join('')}`
}
