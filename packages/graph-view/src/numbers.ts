import { type Shape, shape } from './drawing.ts'
import { type GlyphState, stateClass } from './glyphs.ts'
import { px, textWidth } from './text.ts'

/** The place of a step in the order of the undo, in a round badge: filled once it is undone or parked, dashed while it is only a preview. */
export function numberBadge(
  number: number,
  state: GlyphState,
  { x, y, height = 16, planned = false }: { x: number; y: number; height?: number; planned?: boolean },
): Shape {
  const width = Math.max(height, 6 + textWidth(String(number), 10))
  const done = state === 'undone' || state === 'parked' ? ' done' : ''
  const box = { x: px(x - width / 2), y: px(y - height / 2), width: px(width), height, rx: height / 2 }
  return shape(
    'g',
    { class: stateClass(state) },
    shape('rect', { class: `number${done}${planned ? ' planned' : ''}`, ...box }),
    shape(
      'text',
      { class: `number-text${done}`, x: px(x), y: px(y + 3.6), 'text-anchor': 'middle' },
      String(number),
    ),
    ' ',
  )
}
