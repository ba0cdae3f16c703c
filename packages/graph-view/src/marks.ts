import { type Shape, shape } from './drawing.ts'
import type { ViewStep } from './model.ts'
import { px, textWidth } from './text.ts'

/** What a step's definition says about its undo. It is no state: its shapes are in ink. */
type Mark = 'pivot' | 'irreversible'

const SHAPES: Readonly<Record<Mark, readonly Shape[]>> = {
  pivot: [
    shape('path', { class: 'line', d: 'M3.5 1v12', 'stroke-width': 1.6 }),
    shape('path', { class: 'fill', d: 'M3.5 1.5h9L10 4.75 12.5 8h-9z' }),
  ],
  // The arrow of an undo, struck out.
  irreversible: [
    shape('path', {
      class: 'line',
      d: 'M4.6 2.2L1.8 5l2.8 2.8M2 5h6.2a3.4 3.4 0 0 1 0 6.8H4.5M12.5 1.5l-11 11',
      'stroke-width': 1.5,
    }),
  ],
}

const GLYPH = 11
const GAP = 4
const BETWEEN = 8

function marksOf({ pivot, irreversible }: Pick<ViewStep, 'pivot' | 'irreversible'>): readonly Mark[] {
  return [...(pivot ? (['pivot'] as const) : []), ...(irreversible ? (['irreversible'] as const) : [])]
}

/** How wide all marks of a step are, with the room before each; 0 if it has none. */
export function marksWidth(step: Pick<ViewStep, 'pivot' | 'irreversible'>): number {
  return marksOf(step).reduce((sum, mark) => sum + BETWEEN + GLYPH + GAP + textWidth(mark, 11), 0)
}

/** Shape and word of each, from x on and above the baseline y. */
export function drawMarks(
  step: ViewStep,
  { x, y }: { readonly x: number; readonly y: number },
): readonly Shape[] {
  let from = x
  return marksOf(step).map((mark) => {
    const at = from + BETWEEN
    from = at + GLYPH + GAP + textWidth(mark, 11)
    const transform = `translate(${px(at)} ${px(y - 9.5)}) scale(${px((GLYPH / 14) * 100) / 100})`
    return shape(
      'g',
      { class: 'mark' },
      shape('g', { class: 'glyph', transform }, ...SHAPES[mark]),
      shape('text', { class: 'small', x: px(at + GLYPH + GAP), y: px(y) }, mark),
      ' ',
    )
  })
}
