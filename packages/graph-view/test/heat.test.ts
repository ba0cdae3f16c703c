import { expect, it } from 'vitest'
import { drawHeat, type ItemStates } from '../src/index.ts'

it('has a cell for each item of a small map, in their order', () => {
  const { cells, shapes, columns, width, height } = drawHeat(
    [
      ['completed', 30],
      ['failed', 1],
      ['pending', 9],
    ],
    { width: 205 },
  )
  expect([cells.length, columns, width, height]).toEqual([40, 20, 200, 20])
  expect(cells[30]).toEqual({ from: 30, to: 31, counts: new Map([['failed', 1]]), loudest: 30 })
  const looks = shapes[0]!.children.map((mark) => typeof mark === 'object' && mark.attributes['class'])
  expect(looks).toEqual(['heat-cell s-completed', 'heat-cell s-failed', 'heat-cell s-pending'])
})

it('lets items share cells when there are many, and no failure disappears among them', () => {
  const states: ItemStates = Array.from({ length: 64 }, (_, part) => [
    ['completed', 1_023] as const,
    [part % 2 === 0 ? ('failed' as const) : ('compensation_failed' as const), 1] as const,
  ]).flat()
  const { cells } = drawHeat(states, { width: 320 })
  expect(cells.length).toBe(328)
  expect([cells[0]!.from, cells.at(-1)!.to]).toEqual([0, 65_536])
  for (const [index, { from }] of cells.slice(1).entries()) expect(from).toBe(cells[index]!.to)
  const loud = cells.filter(({ counts }) => !counts.has('completed') || counts.size > 1)
  expect(loud.map(({ loudest }) => loudest)).toEqual(
    Array.from({ length: 64 }, (_, part) => part * 1_024 + 1_023),
  )
  const sum = cells.reduce((all, { counts }) => all + [...counts.values()].reduce((a, b) => a + b), 0)
  expect(sum).toBe(65_536)
})

it('of a map without items there is no cell', () => {
  expect(drawHeat([], { width: 320 }).cells).toEqual([])
})
