import { arrange, type Cell } from './arrange.ts'
import type { ViewStep } from './model.ts'
import { textWidth } from './text.ts'

export type LayoutStep = Pick<ViewStep, 'name' | 'dependsOn'> & { readonly items?: unknown }

export interface LayoutNode {
  readonly step: string
  readonly layer: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface LayoutEdge {
  readonly from: string
  readonly to: string
  /** From border to border. The lines between the points are straight and bent in turn, and begin straight: they bend only between two layers. */
  readonly points: readonly Point[]
}

export interface Layout {
  readonly nodes: readonly LayoutNode[]
  readonly edges: readonly LayoutEdge[]
  readonly width: number
  readonly height: number
}

const LAYER_GAP = 40
const MARGIN = 16
/** The number of an undo stands above a node. */
const PART_GAP = 38
/** More than these make a picture that nobody reads, and take seconds: the other long edges run beneath the nodes. */
const DUMMIES_MAX = 15_000

/**
 * Where the steps of a graph stand: each to the right of all that it depends on (beneath, if `vertical`). Long edges keep a place free in every layer that
 * they cross, so no edge crosses a node. Parts that are not connected do not mix. The same steps give the same layout.
 */
export function layoutGraph(
  steps: readonly LayoutStep[],
  { vertical = false }: { readonly vertical?: boolean } = {},
): Layout {
  const parts = partsOf(steps).map((part) => layoutPart(part, vertical))
  const area = parts.reduce((sum, { width, height }) => sum + width * (height + PART_GAP), 0)
  const widthMax = Math.max(Math.sqrt(area * 2), ...parts.slice(0, 1000).map(({ width }) => width))
  let [x, y, rowHeight, width] = [MARGIN, MARGIN + 8, 0, 0]
  const nodes: LayoutNode[] = []
  const edges: LayoutEdge[] = []
  for (const part of parts) {
    if (x > MARGIN && x + part.width > widthMax + MARGIN) {
      y += rowHeight + PART_GAP
      x = MARGIN
      rowHeight = 0
    }
    const [dx, dy] = [x, y]
    for (const node of part.nodes) nodes.push({ ...node, x: node.x + dx, y: node.y + dy })
    for (const edge of part.edges)
      edges.push({ ...edge, points: edge.points.map((point) => ({ x: point.x + dx, y: point.y + dy })) })
    x += part.width + LAYER_GAP
    width = Math.max(width, dx + part.width)
    rowHeight = Math.max(rowHeight, part.height)
  }
  return { nodes, edges, width: width + MARGIN, height: y + rowHeight + MARGIN + 8 }
}

/** The connected parts, each in the order of the steps. */
function partsOf(steps: readonly LayoutStep[]): readonly (readonly LayoutStep[])[] {
  const place = new Map(steps.map(({ name }, index) => [name, index]))
  const parent = steps.map((_, index) => index)
  const rootOf = (index: number) => {
    let root = index
    while (parent[root] !== root) {
      parent[root] = parent[parent[root]!]!
      root = parent[root]!
    }
    return root
  }
  steps.forEach(({ dependsOn }, index) => {
    for (const name of dependsOn) if (place.has(name)) parent[rootOf(index)] = rootOf(place.get(name)!)
  })
  const parts = new Map<number, LayoutStep[]>()
  steps.forEach((step, index) => {
    const part = parts.get(rootOf(index))
    if (part === undefined) parts.set(rootOf(index), [step])
    else part.push(step)
  })
  return [...parts.values()]
}

/** As if it went right; at the end x and y are exchanged for a vertical one. */
function layoutPart(steps: readonly LayoutStep[], vertical: boolean): Layout {
  const { cells, layers, chains, beneath } = cellsOf(steps, vertical)
  const positions = arrange(cells, layers)
  const lefts: number[] = []
  let right = 0
  for (const layer of layers) {
    lefts.push(right)
    right += layer.reduce((most, cell) => Math.max(most, cells[cell]!.along), 0) + LAYER_GAP
  }
  const width = right - LAYER_GAP
  const rightOf = (layer: number) => (lefts[layer + 1] ?? width + LAYER_GAP) - LAYER_GAP
  const bottom = cells.reduce((most, cell, index) => Math.max(most, positions[index]! + cell.across / 2), 0)
  const nodes = steps.map(({ name }, index): LayoutNode => {
    const { layer, along, across } = cells[index]!
    const [x, y] = [lefts[layer]!, positions[index]! - across / 2]
    const place = vertical
      ? { x: y, y: x, width: across, height: along }
      : { x, y, width: along, height: across }
    return { step: name, layer, ...place }
  })
  const edges = chains.map(({ from, to, via }): LayoutEdge => {
    const start = { x: lefts[cells[from]!.layer]! + cells[from]!.along, y: positions[from]! }
    const points = [start, { x: rightOf(cells[from]!.layer), y: positions[from]! }]
    for (const cell of via) {
      const { layer } = cells[cell]!
      points.push({ x: lefts[layer]!, y: positions[cell]! }, { x: rightOf(layer), y: positions[cell]! })
    }
    if (via === NOWHERE)
      points.push(
        { x: lefts[cells[from]!.layer + 1]!, y: bottom + 20 },
        { x: rightOf(cells[to]!.layer - 1), y: bottom + 20 },
      )
    points.push({ x: lefts[cells[to]!.layer]!, y: positions[to]! })
    const turned = vertical ? points.map(({ x, y }) => ({ x: y, y: x })) : points
    return { from: steps[from]!.name, to: steps[to]!.name, points: turned }
  })
  const height = bottom + (beneath ? 24 : 0)
  return { nodes, edges, width: vertical ? height : width, height: vertical ? width : height }
}

interface Chain {
  readonly from: number
  readonly to: number
  readonly via: readonly number[]
}

/** `via` of an edge that runs beneath all nodes. */
const NOWHERE: readonly number[] = []

/** One cell for each step, then the dummies, with the longest path to each as its layer. Edges of one step share their dummies, and so run together. */
function cellsOf(steps: readonly LayoutStep[], vertical: boolean) {
  const place = new Map(steps.map(({ name }, index) => [name, index]))
  const cells: Cell[] = []
  for (const step of steps) {
    const above = step.dependsOn.flatMap((name) => cells[place.get(name) ?? -1] ?? [])
    const layer = above.reduce((most, cell) => Math.max(most, cell.layer + 1), 0)
    const [width, height] = [nodeWidth(step.name), step.items === undefined ? 52 : 60]
    const [along, across] = vertical ? [height, width] : [width, height]
    cells.push({ layer, along, across, before: [], after: [] })
  }
  const pairs = steps.flatMap(({ dependsOn }, to) =>
    [...new Set(dependsOn)].flatMap((name) => (place.has(name) ? [{ from: place.get(name)!, to }] : [])),
  )
  const spanOf = ({ from, to }: { from: number; to: number }) => cells[to]!.layer - cells[from]!.layer
  pairs.sort((a, b) => spanOf(a) - spanOf(b))
  const dummies = new Map<number, number[]>()
  let beneath = false
  const chains = pairs.map(({ from, to }): Chain => {
    const own = dummies.get(from) ?? []
    dummies.set(from, own)
    const count = spanOf({ from, to }) - 1
    if (cells.length + count - own.length > steps.length + DUMMIES_MAX) {
      beneath = true
      return { from, to, via: NOWHERE }
    }
    while (own.length < count) {
      own.push(cells.length)
      cells.push({ layer: cells[from]!.layer + own.length, along: 0, across: 8, before: [], after: [] })
      join(cells, own.at(-2) ?? from, own.at(-1)!)
    }
    join(cells, count === 0 ? from : own[count - 1]!, to)
    return { from, to, via: own.slice(0, count) }
  })
  return { cells, layers: layersOf(cells), chains, beneath }
}

function join(cells: readonly Cell[], from: number, to: number): void {
  cells[from]!.after.push(to)
  cells[to]!.before.push(from)
}

function layersOf(cells: readonly Cell[]): readonly number[][] {
  const layers: number[][] = []
  cells.forEach(({ layer }, index) => {
    while (layers.length <= layer) layers.push([])
    layers[layer]!.push(index)
  })
  return layers
}

function nodeWidth(name: string): number {
  return Math.round(Math.min(264, Math.max(184, 50 + textWidth(name.slice(0, 60), 13))))
}
