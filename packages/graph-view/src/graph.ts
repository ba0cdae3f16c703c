import { indexOf, roundAt, timesOf } from './attempts.ts'
import { type Drawing, type Shape, shape } from './drawing.ts'
import { shownState, stateClass } from './glyphs.ts'
import { drawEdge, drawUndoEdge } from './graph/edges.ts'
import { drawNode, isGhost } from './graph/node.ts'
import type { Scene } from './graph/scene.ts'
import { type Layout, type LayoutNode, layoutGraph } from './layout.ts'
import type { ViewRun } from './model.ts'
import { stateAt } from './state.ts'
import { px } from './text.ts'
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
 * go back. A `g` with `data-step` is a node; only the first has a tab stop.
 */
export function drawGraph(run: ViewRun, options: GraphOptions = {}): Graph {
  const { order = true, vertical = false, view } = options
  const layout = options.layout ?? layoutGraph(run.steps, { vertical })
  const scene = sceneOf(run, options.at ?? run.readAt, { order, vertical })
  const { step, dependents } = indexOf(run)
  const isSeen = (box: View) => view === undefined || overlaps(box, view)
  const edges = layout.edges.filter(({ points }) => isSeen(boxOf(points)))
  const drawn = layout.nodes.map((node, index) =>
    isSeen(node) ? drawNode(scene, step.get(node.step)!, node, index === 0) : undefined,
  )
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

function sizeOf({ width, height }: Layout): Pick<Drawing, 'width' | 'height'> {
  return { width: Math.ceil(width), height: Math.ceil(height) }
}

function sceneOf(
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
    states: new Map(run.steps.map((step) => [step.name, stateAt(run, step, at, round)])),
    order: new Map(shown.map(({ step, number }) => [step.name, number])),
  }
}

function boxOf(points: readonly { readonly x: number; readonly y: number }[]): View {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const [x, y] = [Math.min(...xs), Math.min(...ys)]
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y + 12 }
}

function overlaps(a: View, b: View): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
}

/** The whole graph small, `width` pixels wide (default 150), with a frame around the part that is seen. */
export function drawMinimap(run: ViewRun, options: GraphOptions & { readonly width?: number } = {}): Drawing {
  const { width = 150, view, vertical = false } = options
  const layout = options.layout ?? layoutGraph(run.steps, { vertical })
  const { states } = sceneOf(run, options.at ?? run.readAt, { order: false, vertical })
  const scale = Math.min(width / layout.width, 1)
  const box = (part: View, least: number) => ({
    x: px(part.x * scale),
    y: px(part.y * scale),
    width: px(Math.max(least, part.width * scale)),
    height: px(Math.max(least, part.height * scale)),
  })
  const nodes = layout.nodes.map((node): Shape => {
    const state = states.get(node.step)!
    const look = isGhost(state) ? 'mini ghost' : `mini ${stateClass(shownState(state))}`
    return shape('rect', { class: look, ...box(node, 1.5), rx: 1 })
  })
  const frame = view === undefined ? [] : [shape('rect', { class: 'view', ...box(clipped(view, layout), 6) })]
  const height = Math.max(1, Math.ceil(layout.height * scale))
  return { width, height, shapes: [shape('g', { class: 'belay minimap' }, ...nodes, ...frame)] }
}

function clipped(view: View, { width, height }: Layout): View {
  const [x, y] = [Math.max(0, Math.min(width, view.x)), Math.max(0, Math.min(height, view.y))]
  return {
    x,
    y,
    width: Math.min(width, view.x + view.width) - x,
    height: Math.min(height, view.y + view.height) - y,
  }
}
