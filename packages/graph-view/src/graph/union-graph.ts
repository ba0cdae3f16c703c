import { type Shape, shape } from '../drawing.ts'
import { type GlyphState, glyph } from '../glyphs.ts'
import { boxesOf, type Graph, type GraphNode, type GraphOptions, overlaps, sizeOf } from '../graph.ts'
import { type LayoutNode, layoutGraph } from '../layout.ts'
import { px, safeText, textShape } from '../text.ts'
import type { UnitedStep } from '../union.ts'
import { curve } from './edges.ts'

/** What stands in the node of a step: its mark, and up to two lines. */
export interface UnionNote {
  readonly mark?: keyof typeof MARKS | undefined
  readonly lines: readonly { readonly state?: GlyphState; readonly text: string }[]
}

/** Colour means state, so these are told apart by shape, and by the words beside them. */
const MARKS = {
  added: 'M7 2v10M2 7h10',
  removed: 'M2 7h10',
  changed: 'M2 5h10M2 9.5h10M10 1.5L4 13',
} as const

/**
 * Two graphs over each other. What only the second has is drawn bold, and what only the first has dashed: steps and edges. A `g` with `data-step` is a node;
 * only one has a tab stop.
 */
export function drawUnion<Step extends UnitedStep>(
  steps: readonly Step[],
  noteOf: (step: Step) => UnionNote,
  { layout = layoutGraph(steps), vertical = false, view, stop }: Omit<GraphOptions, 'at' | 'order'> = {},
): Graph {
  const byName = new Map(steps.map((step) => [step.name, step]))
  const boxes = boxesOf(layout)
  const edges = layout.edges.flatMap(({ from, to, points }, index) => {
    if (view !== undefined && !overlaps(boxes[index]!, view)) return []
    const { before, after } = byName.get(to)!
    const [was, is] = [before, after].map((step) => step?.dependsOn.includes(from) === true)
    const look = was && is ? 'edge taken' : is ? 'edge taken added' : 'edge'
    return [shape('path', { class: look, d: curve(points, vertical) })]
  })
  const count = layout.nodes.length
  const nodes = layout.nodes.map((node, index) => {
    const isStop = stop === undefined ? index === 0 : safeText(node.step) === stop
    const isSeen = view === undefined || isStop || overlaps(node, view)
    return isSeen ? nodeOf(node, noteOf(byName.get(node.step)!), { index, count, isStop }) : undefined
  })
  const successors = new Map<string, string[]>(steps.map(({ name }) => [name, []]))
  for (const { name, dependsOn } of steps) for (const other of dependsOn) successors.get(other)?.push(name)
  const drawn = nodes.flatMap((node) => (node === undefined ? [] : [node.shape]))
  return {
    ...sizeOf(layout),
    shapes: [shape('g', { class: 'belay graph union' }, ...edges, ...drawn)],
    nodes: layout.nodes.map(
      (node, index): GraphNode => ({
        ...node,
        label: nodes[index]?.label ?? '',
        successors: successors.get(node.step)!,
        predecessors: byName.get(node.step)!.dependsOn,
      }),
    ),
  }
}

function nodeOf(
  { step, x, y, width, height }: LayoutNode,
  { mark, lines }: UnionNote,
  { index, count, isStop }: { readonly index: number; readonly count: number; readonly isStop: boolean },
): { readonly shape: Shape; readonly label: string } {
  const box = { x: px(x), y: px(y), width, height, rx: 7 }
  const markAt = `translate(${px(x + width - 23)} ${px(y + 8)})`
  const inside = [
    shape('rect', { class: 'ground', ...box }),
    shape('rect', { class: 'box', ...box }),
    ...(mark === undefined ? [] : [shape('path', { class: 'mark', d: MARKS[mark], transform: markAt })]),
    textShape(step, { class: 'name', x: px(x + 12), y: px(y + 20), widthMax: width - 42, size: 13 }),
    ...lines.flatMap(({ state, text }, line) => {
      const [left, bottom] = [state === undefined ? x + 12 : x + 30, y + 37 + line * 16]
      return [
        ' ',
        ...(state === undefined ? [] : [glyph(state, x + 12, bottom - 10, 12)]),
        textShape(text, { x: px(left), y: px(bottom), widthMax: x + width - 10 - left }),
      ]
    }),
  ]
  const label = safeText([step, ...lines.map(({ text }) => text)].join(' ').trim())
  const group = {
    class: `node ${mark === 'removed' ? 'ghost' : (mark ?? '')}`.trim(),
    'data-step': safeText(step),
    role: 'treeitem',
    'aria-posinset': index + 1,
    'aria-setsize': count,
    tabindex: isStop ? 0 : -1,
    'aria-label': label,
  }
  return { shape: shape('g', group, ...inside), label }
}
