import { type Drawing, type Shape, shape } from './drawing.ts'
import { type GlyphState, glyphOf, stateClass } from './glyphs.ts'
import type { StepStatus } from './model.ts'
import { LOUDEST } from './strip.ts'

/** The states of a map's items in their order, as runs of equal ones. */
export type ItemStates = readonly (readonly [status: StepStatus, count: number])[]

export interface HeatCell {
  /** Its items: from this index to the one before that. */
  readonly from: number
  readonly to: number
  /** How many of them are in each state, the loudest first. */
  readonly counts: ReadonlyMap<StepStatus, number>
  /** The index of the first one in the loudest state. */
  readonly loudest: number
}

export interface Heat extends Drawing {
  readonly cells: readonly HeatCell[]
  readonly columns: number
}

/** More cells than these are not told apart: then several items share one. */
const CELLS_MAX = 600
export const HEAT_PITCH = 10
const SIZE = 8

/** All items of a map, in their order from left to right and from top to bottom. A cell looks like the loudest of its items: nothing that fails is hidden. */
export function drawHeat(states: ItemStates, { width }: { readonly width: number }): Heat {
  const columns = Math.max(1, Math.floor(width / HEAT_PITCH))
  const cells = cellsOf(states)
  const marks = new Map<string, string[]>()
  cells.forEach(({ counts }, index) => {
    const [loudest = 'pending'] = counts.keys()
    const { look, path } = markOf(glyphOf(loudest))
    const place = `M${(index % columns) * HEAT_PITCH} ${Math.floor(index / columns) * HEAT_PITCH}${path}`
    const others = marks.get(look)
    if (others === undefined) marks.set(look, [place])
    else others.push(place)
  })
  const shapes = [...marks].map(([look, paths]): Shape => shape('path', { class: look, d: paths.join('') }))
  return {
    width: columns * HEAT_PITCH,
    height: Math.max(1, Math.ceil(cells.length / columns)) * HEAT_PITCH,
    shapes: [shape('g', { class: 'belay heat' }, ...shapes)],
    cells,
    columns,
  }
}

function cellsOf(states: ItemStates): readonly HeatCell[] {
  const total = states.reduce((sum, [, count]) => sum + count, 0)
  const share = shareOf(total)
  const cells: HeatCell[] = []
  let [part, used] = [0, 0]
  for (let from = 0; from < total; from += share) {
    const to = Math.min(total, from + share)
    const counts = new Map<StepStatus, number>()
    const firsts = new Map<StepStatus, number>()
    for (let open = to - from; open > 0; ) {
      const [status, count] = states[part]!
      const taken = Math.min(open, count - used)
      counts.set(status, (counts.get(status) ?? 0) + taken)
      if (!firsts.has(status)) firsts.set(status, to - open)
      open -= taken
      used += taken
      if (used === count) [part, used] = [part + 1, 0]
    }
    const loudestFirst = LOUDEST.flatMap((status) => {
      const count = counts.get(status)
      return count === undefined ? [] : [[status, count] as const]
    })
    cells.push({ from, to, counts: new Map(loudestFirst), loudest: firsts.get(loudestFirst[0]![0])! })
  }
  return cells
}

/** How many items share a cell: 1, 2, 5, 10 and so on. */
function shareOf(total: number): number {
  for (let power = 1; ; power *= 10)
    for (const share of [power, 2 * power, 5 * power]) if (total <= share * CELLS_MAX) return share
}

/** Each state has a shape of its own, as the colour alone does not tell it. From the upper left corner of its cell. */
function markOf(state: GlyphState): { readonly look: string; readonly path: string } {
  const look = `heat-cell ${stateClass(state)}`
  switch (state) {
    case 'completed':
      return { look, path: `m0 0h${SIZE}v${SIZE}h-${SIZE}z` }
    // A square with a cross cut out.
    case 'failed':
      return { look, path: 'm1 0h6l-3 3zm0 8h6l-3-3zm-1-7v6l3-3zm8 0v6l-3-3z' }
    case 'parked':
      return { look, path: 'm4 -0.5l4.5 4.5l-4.5 4.5l-4.5-4.5z' }
    case 'running':
      return { look, path: 'm0.5 0l7.5 4l-7.5 4z' }
    case 'undoing':
      return { look, path: 'm7.5 0l-7.5 4l7.5 4z' }
    case 'undone':
      return { look, path: 'm0 0h8v8h-8zm2 2v4h4v-4z' }
    case 'waiting':
      return { look, path: 'm0 3h2v2h-2zm3 0h2v2h-2zm3 0h2v2h-2z' }
    case 'skipped':
    case 'cancelled':
      return { look, path: 'm0 3h8v2h-8z' }
    case 'ready':
      return { look, path: 'm4 0l4 8h-8z' }
    default:
      return { look, path: 'm2.5 2.5h3v3h-3z' }
  }
}
