import { describe, expect, it } from 'vitest'
import { type Layout, type LayoutNode, layoutGraph } from '../src/index.ts'
import { randomGraph } from './random.ts'

const graphs = Array.from({ length: 300 }, (_, seed) => ({ seed, steps: randomGraph(seed, 2 + (seed % 60)) }))

describe('the layout of 300 random graphs', () => {
  it('has no two nodes that overlap, and all of them inside', () => {
    for (const { seed, steps } of graphs) {
      const { nodes, width, height } = layoutGraph(steps)
      expect(nodes.length).toBe(steps.length)
      const apart = nodes.every((a, index) => nodes.slice(index + 1).every((b) => areApart(a, b)))
      expect(apart, `seed ${seed}`).toBe(true)
      const inside = nodes.every(
        (node) =>
          node.x >= 0 && node.y >= 0 && node.x + node.width <= width && node.y + node.height <= height,
      )
      expect(inside, `seed ${seed}`).toBe(true)
    }
  })

  it('has edges that go right, from border to border', () => {
    for (const { seed, steps } of graphs) {
      const layout = layoutGraph(steps)
      expect(layout.edges.length).toBe(steps.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0))
      expect(wrongEdges(layout), `seed ${seed}`).toEqual([])
    }
  })

  it('has no edge that crosses a node', () => {
    for (const { seed, steps } of graphs) {
      const { nodes, edges } = layoutGraph(steps)
      for (const { from, to, points } of edges) {
        const others = nodes.filter(({ step }) => step !== from && step !== to)
        const hit = points.slice(1).flatMap((end, index) => {
          const start = points[index]!
          return others.filter((node) => touches(node, start, end))
        })
        expect(hit, `seed ${seed}: ${from} to ${to}`).toEqual([])
      }
    }
  })

  it('is the same for the same steps', () => {
    for (const { steps } of graphs) expect(layoutGraph(structuredClone(steps))).toEqual(layoutGraph(steps))
  })

  it('goes down if it is vertical', () => {
    const { edges } = layoutGraph(graphs[40]!.steps, { vertical: true })
    expect(
      edges.every(({ points }) => points.every(({ y }, index) => y >= (points[index - 1]?.y ?? 0))),
    ).toBe(true)
  })
})

it('lays out graphs of 10,000 steps, with more long edges than have places too', () => {
  const { nodes } = layoutGraph(randomGraph(1, 10_000))
  const chain = Array.from({ length: 2000 }, (_, n) => ({
    name: `s${n}`,
    dependsOn: n === 0 ? [] : n < 3 ? [`s${n - 1}`] : [`s${n - 1}`, `s${Math.floor(n / 3)}`],
  }))
  const layout = layoutGraph(chain)
  expect(nodes.length).toBe(10_000)
  expect(wrongEdges(layout)).toEqual([])
})

it('knows no graph that it cannot draw: no steps, one step, an unknown dependency', () => {
  expect(layoutGraph([]).nodes).toEqual([])
  expect(layoutGraph([{ name: 'only', dependsOn: [] }]).nodes.length).toBe(1)
  expect(layoutGraph([{ name: 'only', dependsOn: ['gone'] }]).edges).toEqual([])
})

function areApart(a: LayoutNode, b: LayoutNode): boolean {
  return a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y
}

function wrongEdges({ nodes, edges }: Layout) {
  const byName = new Map(nodes.map((node) => [node.step, node]))
  return edges.filter(({ from, to, points }) => {
    const [a, b, first, last] = [byName.get(from)!, byName.get(to)!, points[0]!, points.at(-1)!]
    const leaves = first.x === a.x + a.width && first.y > a.y && first.y < a.y + a.height
    const arrives = last.x === b.x && last.y > b.y && last.y < b.y + b.height
    return (
      !leaves ||
      !arrives ||
      points.some(({ x }, index) => x < (points[index - 1]?.x ?? 0)) ||
      first.x >= last.x
    )
  })
}

/** The corners of a segment's box: a bent line stays in it. */
function touches(node: LayoutNode, a: { x: number; y: number }, b: { x: number; y: number }): boolean {
  const [top, bottom] = [Math.min(a.y, b.y), Math.max(a.y, b.y)]
  return a.x < node.x + node.width && b.x > node.x && top < node.y + node.height && bottom > node.y
}
