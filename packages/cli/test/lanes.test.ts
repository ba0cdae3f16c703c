import { describe, expect, it } from 'vitest'
import { drawLanes } from '../src/lanes/draw.ts'
import { type LaneStep, layoutLanes } from '../src/lanes/layout.ts'

/** `a b:a c:a,b`: steps, each with what it depends on. */
function graph(text: string): readonly LaneStep[] {
  return text.split(' ').map((word) => {
    const [name = '', on] = word.split(':')
    return { name, dependsOn: on?.split(',') ?? [] }
  })
}

/** Each step's line with its name. */
function picture(steps: readonly LaneStep[], options?: { ascii?: boolean; marks?: string }): string {
  const marks = steps.map((_, index) => options?.marks?.[index] ?? (options?.ascii ? 'o' : '○'))
  const rows = layoutLanes(steps)
  if (rows === undefined) return 'too many lanes'
  return drawLanes(rows, marks, options)
    .map((line, index) => `${line} ${steps[index]!.name}`)
    .join('\n')
}

const drawn = (text: string) => text.replace(/^\n/, '').replace(/\n *$/, '').replaceAll(/^ {6}/gm, '')

const fulfilOrder = graph(
  'checkFraud approveOrder:checkFraud reserveStock chargeCard:approveOrder,reserveStock packItem:chargeCard route bookCourier:packItem,route printLabel:packItem,route shipped:bookCourier,printLabel',
)

describe('lanes', () => {
  it('draw the order as the mock does', () => {
    expect(picture(fulfilOrder, { marks: '●»●●●●»●◊' })).toBe(
      drawn(`
      ●     checkFraud
      »     approveOrder
      │ ●   reserveStock
      ●─┘   chargeCard
      ●     packItem
      │ ●   route
      ├─┼─» bookCourier
      ●─┘ │ printLabel
      ◊───┘ shipped
      `),
    )
  })

  it('draw it in ASCII', () => {
    expect(picture(fulfilOrder, { ascii: true })).toBe(
      drawn(`
      o     checkFraud
      o     approveOrder
      | o   reserveStock
      o-+   chargeCard
      o     packItem
      | o   route
      +-+-o bookCourier
      o-+ | printLabel
      o---+ shipped
      `),
    )
  })

  it('keep a chain in one lane', () => {
    expect(picture(graph('a b:a c:b'))).toBe('○ a\n○ b\n○ c')
  })

  it('part and join in a diamond', () => {
    expect(picture(graph('a left:a right:a end:left,right'))).toBe(
      drawn(`
      ○   a
      ├─○ left
      ○ │ right
      ○─┘ end
      `),
    )
  })

  it('fan out and in', () => {
    expect(picture(graph('a b:a c:a d:a e:a end:b,c,d,e'))).toBe(
      drawn(`
      ○       a
      ├─○     b
      ├─│─○   c
      ├─│─│─○ d
      ○ │ │ │ e
      ○─┴─┴─┘ end
      `),
    )
  })

  it('leave a lane empty for one row after its last step, so that strangers do not look related', () => {
    expect(picture(graph('a b c d'))).toBe(
      drawn(`
      ○   a
        ○ b
      ○   c
        ○ d
      `),
    )
  })

  it('join from both sides where a step takes a place that became free between lanes', () => {
    expect(picture(graph('a b x c:b d e:a,x f:a,x'))).toBe(
      drawn(`
      ○       a
      │ ○     b
      │ │ ○   x
      │ ○ │   c
      │   │ ○ d
      ├─○─┤   e
      ○───┘   f
      `),
    )
  })

  it('cross a lane that is none of its business without a junction', () => {
    expect(picture(graph('a b c:a d:b,a e:a,b,c'))).toBe(
      drawn(`
      ○       a
      │ ○     b
      ├─│─○   c
      ├─┼─│─○ d
      ○─┴─┘   e
      `),
    )
  })

  it('give up beyond six lanes', () => {
    const children = (count: number) => Array.from({ length: count }, (_, n) => `s${n}:a`)
    const wide = (count: number) =>
      graph(`a ${children(count).join(' ')} end:${children(count).map((child) => child.slice(0, -2))}`)

    expect(picture(wide(6)).split('\n').at(-1)).toBe('○─┴─┴─┴─┴─┘ end')
    expect(picture(wide(7))).toBe('too many lanes')
  })

  it.each([false, true])('can be read back, edge by edge, for any graph (ASCII: %s)', (ascii) => {
    let pictures = 0
    for (let seed = 1; seed <= 3_000; seed += 1) {
      const steps = randomGraph(seed)
      const text = picture(steps, { ascii })
      if (text === 'too many lanes') continue
      pictures += 1
      expect(readBack(text.split('\n')), `seed ${seed}:\n${text}`).toEqual(edgesOf(steps))
    }
    expect(pictures).toBeGreaterThan(1_000)
  })
})

function edgesOf(steps: readonly LaneStep[]): readonly string[] {
  return steps.flatMap(({ name, dependsOn }) => dependsOn.map((on) => `${on} → ${name}`)).sort()
}

/** Reads a picture as a person does: up from a step, and along its line to each junction, then up. */
function readBack(lines: readonly string[]): readonly string[] {
  const rows = lines.map((line) => ({
    cells: line.slice(0, line.lastIndexOf(' ')),
    name: line.slice(line.lastIndexOf(' ') + 1),
  }))
  const at = (row: number, column: number) => rows[row]?.cells[column] ?? ' '
  const stepAbove = (row: number, column: number): string => {
    for (let up = row - 1; up >= 0; up -= 1) if ('○o'.includes(at(up, column))) return rows[up]!.name
    throw new Error(`No step is above row ${row}, column ${column}.`)
  }
  const edges: string[] = []
  for (const [row, { cells, name }] of rows.entries()) {
    const step = cells.search(/[○o]/)
    if ('○o│|├┼┤'.includes(at(row - 1, step)) || (at(row - 1, step) === '+' && goesOn(at, row - 1, step)))
      edges.push(`${stepAbove(row, step)} → ${name}`)
    for (const way of [-1, 1]) {
      for (let column = step + way; '─-'.includes(at(row, column)); column += 2 * way) {
        if ('├┼┤┘┴+'.includes(at(row, column + way))) edges.push(`${stepAbove(row, column + way)} → ${name}`)
      }
    }
  }
  return edges.sort()
}

/** In ASCII a junction looks like an end: a lane that ended is followed by nothing. */
function goesOn(at: (row: number, column: number) => string, row: number, column: number): boolean {
  return '|+o'.includes(at(row + 1, column))
}

function randomGraph(seed: number): readonly LaneStep[] {
  let state = seed * 2_654_435_761
  const below = (max: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * max)
  }
  const density = 1 + below(4)
  return Array.from({ length: 2 + below(9) }, (_, index) => ({
    name: `s${index}`,
    dependsOn: Array.from({ length: index }, (_, on) => `s${on}`).filter(() => below(10) < density),
  }))
}
