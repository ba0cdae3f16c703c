import { indexOf, roundAt, timesOf } from './attempts.ts'
import { type Drawing, shape } from './drawing.ts'
import { drawEdge, drawUndoEdge } from './graph/edges.ts'
import { drawNode } from './graph/node.ts'
import type { Scene } from './graph/scene.ts'
import { type Layout, type LayoutNode, layoutGraph } from './layout.ts'
import type { ViewRun } from './model.ts'
import { stateAt } from './state.ts'
import { safeText } from './text.ts'
import { undoOrder } from './undo.ts'

export interface GraphOptions {
  /** The instant to draw, default `readAt`. It changes what the nodes say, never where they stand. */
  readonly at?: number | undefined
  /** Numbers and arrows of the undo's order, default true. */
  readonly order?: boolean | undefined
  /** Default {@link layoutGraph} of the steps. Give it to draw a large run again and again. */
  readonly layout?: Layout | undefined
  /** For a narrow page: the graph goes down instead of right. Default false. */
  readonly vertical?: boolean | undefined
  /** Draws only what this part of the drawing shows. Default all. */
  readonly view?: View | undefined
  /** The `data-step` that has the tab stop, drawn even outside of the view. Default the first one. */
  readonly stop?: string | undefined
}

/** A part of a drawing, in its pixels. */
export interface View {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface GraphNode extends LayoutNode {
  /** Begins with the visible text. Empty for a node outside the view. */
  readonly label: string
  readonly successors: readonly string[]
  readonly predecessors: readonly string[]
}

export interface Graph extends Drawing {
  readonly nodes: readonly GraphNode[]
}

/**
 * A run as a graph at an instant: the state of each step as shape, word and colour, the way that it took, and the order of the undo as numbers and arrows that
 * go back. A `g` with `data-step` is a node; only one has a tab stop.
 */
export function drawGraph(run: ViewRun, options: GraphOptions = {}): Graph {
  const { order = true, vertical = false, view, stop } = options
  const layout = options.layout ?? layoutGraph(run.steps, { vertical })
  const scene = sceneOf(run, options.at ?? run.readAt, { order, vertical })
  const { step, dependents } = indexOf(run)
  const isStop = (name: string, index: number) => (stop === undefined ? index === 0 : safeText(name) === stop)
  const boxes = boxesOf(layout)
  const edges = layout.edges.filter((_, index) => view === undefined || overlaps(boxes[index]!, view))
  const count = layout.nodes.length
  const drawn = layout.nodes.map((node, index) => {
    const isOwn = isStop(node.step, index)
    if (view !== undefined && !isOwn && !overlaps(node, view)) return undefined
    return drawNode(scene, step.get(node.step)!, node, { index, count, isStop: isOwn })
  })
  const shapes = [
    ...edges.map((edge) => drawEdge(scene, edge)),
    ...edges.flatMap((edge) => drawUndoEdge(scene, edge)),
    ...drawn.flatMap((node) => (node === undefined ? [] : [node.shape])),
  ]
  const nodes = layout.nodes.map((node, index): GraphNode => {
    const successors = dependents.get(node.step) ?? []
    return {
      ...node,
      label: drawn[index]?.label ?? '',
      successors,
      predecessors: step.get(node.step)!.dependsOn,
    }
  })
  return { ...sizeOf(layout), shapes: [shape('g', { class: 'belay graph' }, ...shapes)], nodes }
}

export function sizeOf({ width, height }: Layout): Pick<Drawing, 'width' | 'height'> {
  return { width: Math.ceil(width), height: Math.ceil(height) }
}

export function sceneOf(
  run: ViewRun,
  at: number,
  { order, vertical }: { order: boolean; vertical: boolean },
): Scene {
  const round = roundAt(run, at)
  const { stoppedAt } = timesOf(run, round)
  const stopped = stoppedAt !== undefined && at >= stoppedAt
  const shown = order && stopped ? undoOrder(run, round) : []
  return {
    run,
    at,
    round,
    stopped,
    vertical,
    states: statesOf(run, at, round),
    order: new Map(shown.map(({ step, number }) => [step.name, number])),
  }
}

const states = new WeakMap<ViewRun, { readonly at: number; readonly states: Scene['states'] }>()

/** Kept for the newest instant: while a large graph is scrolled, it is drawn again and again at the same one. */
function statesOf(run: ViewRun, at: number, round: number): Scene['states'] {
  const known = states.get(run)
  if (known?.at === at) return known.states
  const made = new Map(run.steps.map((step) => [step.name, stateAt(run, step, at, round)]))
  states.set(run, { at, states: made })
  return made
}

const boxes = new WeakMap<Layout, readonly View[]>()

/** Of the edges. */
export function boxesOf(layout: Layout): readonly View[] {
  const known = boxes.get(layout) ?? layout.edges.map(({ points }) => boxOf(points))
  boxes.set(layout, known)
  return known
}

function boxOf(points: readonly { readonly x: number; readonly y: number }[]): View {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y + 12 }
}

export function overlaps(a: View, b: View): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
}
