import { type Shape, shape } from './drawing.ts'
import type { RunStatus, StepStatus } from './model.ts'
import type { StepState } from './state.ts'
import { px } from './text.ts'

/** All states that have a shape, a colour (`--s-…`) and a word: of a run, of a step going forward, and of its undo. */
export type GlyphState =
  | 'pending'
  | 'scheduled'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'skipped'
  | 'failed'
  | 'cancelled'
  | 'paused'
  | 'to undo'
  | 'undoing'
  | 'undone'
  | 'parked'

const UNDO = { compensating: 'undoing', compensated: 'undone', compensation_failed: 'parked' } as const

/** The shape and the word of a status, of a run or of a step. */
export function glyphOf(status: RunStatus | StepStatus): GlyphState {
  return status in UNDO
    ? UNDO[status as keyof typeof UNDO]
    : (status as Exclude<typeof status, keyof typeof UNDO>)
}

/** Of a step's two states the one to show: its undo, once that has begun. */
export function shownState({ forward, undo }: StepState): GlyphState {
  return undo === undefined || undo === 'to undo' ? forward : undo
}

/** The class that gives a state its colour: `s-to-undo`. */
export function stateClass(state: GlyphState): string {
  return `s-${state.replace(' ', '-')}`
}

const stroked = (d: string, width: number) => shape('path', { class: 'line', d, 'stroke-width': width })
const filled = (d: string) => shape('path', { class: 'fill', d })
const hole = (d: string) => shape('path', { class: 'hole', d })
const cut = (d: string, width: number) => shape('path', { class: 'cut', d, 'stroke-width': width })
const dot = (cx: number, r: number) => shape('circle', { class: 'fill', cx, cy: 7, r })
const ring = (r: number, width: number) =>
  shape('circle', { class: 'line', cx: 7, cy: 7, r, 'stroke-width': width })

/** Forward shapes point right, undo shapes point left. Each is told apart without its colour. */
const SHAPES: Readonly<Record<GlyphState, readonly Shape[]>> = {
  pending: [dot(7, 2)],
  scheduled: [ring(5.4, 1.5), stroked('M7 4v3.2l2 1.3', 1.4)],
  ready: [ring(5, 2)],
  running: [dot(7, 6.5), hole('M5.3 3.9L10 7l-4.7 3.1z')],
  waiting: [dot(2.4, 1.7), dot(7, 1.7), dot(11.6, 1.7)],
  completed: [stroked('M2 7.4l3.3 3.3L12 3.6', 2)],
  skipped: [stroked('M2.2 7h2.6m2 0h2.6m2 0h.6', 1.8)],
  failed: [
    shape('rect', { class: 'fill', x: 1, y: 1, width: 12, height: 12, rx: 2.5 }),
    cut('M4.4 4.4l5.2 5.2m0-5.2L4.4 9.6', 1.6),
  ],
  cancelled: [ring(5.4, 1.5), stroked('M3.3 10.7l7.4-7.4', 1.5)],
  paused: [stroked('M4.3 2.2v9.6M9.7 2.2v9.6', 2.6)],
  'to undo': [ring(5.4, 1.5), stroked('M8.4 4.4L5.4 7l3 2.6', 1.5)],
  undoing: [dot(7, 6.5), hole('M8.7 3.9L4 7l4.7 3.1z')],
  undone: [stroked('M4.6 2.2L1.8 5l2.8 2.8M2 5h6.2a3.4 3.4 0 0 1 0 6.8H4.5', 1.7)],
  parked: [
    filled('M7 .2L13.8 7 7 13.8.2 7z'),
    cut('M7 3.8v3.8', 1.7),
    shape('circle', { class: 'hole', cx: 7, cy: 9.8, r: 1 }),
  ],
}

/** The shape of a state, `size` pixels wide and high, with its corner at x and y. */
export function glyph(state: GlyphState, x = 0, y = 0, size = 14): Shape {
  const scale = size === 14 ? '' : ` scale(${px((size / 14) * 100) / 100})`
  const transform = `translate(${px(x)} ${px(y)})${scale}`
  return shape('g', { class: `glyph ${stateClass(state)}`, transform }, ...SHAPES[state])
}
