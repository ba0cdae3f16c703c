import { type Drawing, type Shape, shape } from './drawing.ts'
import { shownState, stateClass } from './glyphs.ts'
import { isGhost } from './graph/node.ts'
import { type GraphOptions, sceneOf } from './graph.ts'
import { layoutGraph } from './layout.ts'
import type { ViewRun } from './model.ts'
import { px } from './text.ts'

/** A graph that is much longer than it is wide is not drawn thinner than this. */
const LEAST = 24

/**
 * The whole graph small, at most `width` times `height` pixels (default 150 × 96). All nodes of one state are one element: there may be 10,000.
 */
export function drawMinimap(
  run: ViewRun,
  options: Pick<GraphOptions, 'at' | 'layout' | 'vertical'> & {
    readonly width?: number
    readonly height?: number
  } = {},
): Drawing {
  const { width = 150, height = 96, vertical = false } = options
  const layout = options.layout ?? layoutGraph(run.steps, { vertical })
  const { states } = sceneOf(run, options.at ?? run.readAt, { order: false, vertical })
  const scale = Math.min(width / layout.width, height / layout.height, 1)
  const across = {
    x: Math.max(scale, Math.min(1, LEAST / layout.width)),
    y: Math.max(scale, Math.min(1, LEAST / layout.height)),
  }
  const paths = new Map<string, string[]>()
  for (const node of layout.nodes) {
    const state = states.get(node.step)!
    const look = isGhost(state) ? 'mini ghost' : `mini ${stateClass(shownState(state))}`
    const [long, high] = [px(Math.max(1.5, node.width * across.x)), px(Math.max(1.5, node.height * across.y))]
    const path = `M${px(node.x * across.x)} ${px(node.y * across.y)}h${long}v${high}h-${long}z`
    const others = paths.get(look)
    if (others === undefined) paths.set(look, [path])
    else others.push(path)
  }
  const nodes = [...paths].map(([look, parts]): Shape => shape('path', { class: look, d: parts.join('') }))
  return {
    width: Math.max(1, Math.ceil(layout.width * across.x)),
    height: Math.max(1, Math.ceil(layout.height * across.y)),
    shapes: [shape('g', { class: 'belay minimap' }, ...nodes)],
  }
}
