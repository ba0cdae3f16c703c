import { describe, expect, it } from 'vitest'
import {
  drawGraph,
  drawLinks,
  drawMinimap,
  drawPlan,
  drawTimeline,
  fileStyle,
  links,
  planTimeline,
  type Shape,
  svgText,
  timelineText,
  type ViewRun,
} from '../src/index.ts'
import { all, approval, hostile, mapped, parked, step, T0, undone } from './runs.ts'

const zone = 'Europe/Zurich'

describe.each(Object.entries(all))('the drawings of the run “%s”', (name, run) => {
  it('are as before: timeline, narrow timeline, graph', async () => {
    const file = (kind: string) => `golden/${name}-${kind}.svg`
    const options = { style: fileStyle, label: name }
    await expect(svgText(drawTimeline(run, { zone, width: 1160 }), options)).toMatchFileSnapshot(
      file('timeline'),
    )
    await expect(svgText(drawTimeline(run, { zone, width: 370, actions: 250 }), options)).toMatchFileSnapshot(
      file('narrow'),
    )
    await expect(svgText(drawGraph(run), options)).toMatchFileSnapshot(file('graph'))
  })

  it('say the same as text', async () => {
    await expect(timelineText(run, run.readAt, zone)).toMatchFileSnapshot(`golden/${name}.txt`)
  })

  it('have names that begin with the visible text', () => {
    for (const group of rowsAndNodes(run)) {
      const label = String(group.attributes['aria-label'])
      expect(label.replaceAll(/\s/g, '').startsWith(seen(group).replaceAll(/\s/g, '')), label).toBe(true)
    }
  })

  it('stay inside their width at every instant', () => {
    for (const at of [T0 - 1000, T0, T0 + 100, T0 + 38_000, T0 + 45_000, run.readAt])
      for (const width of [320, 700, 2560]) {
        const { shapes, rows } = drawTimeline(run, { at, width, zone, preview: true, compact: true })
        const boxes = flat(shapes).filter(
          ({ tag, attributes }) => tag === 'rect' && attributes['x'] !== undefined,
        )
        const outside = boxes.filter(
          ({ attributes: { x, width: w } }) => Number(x) < 0 || Number(x) + Number(w) > width + 1,
        )
        expect(outside).toEqual([])
        expect(rows.every(({ x1, x2 }) => x1 <= x2 && x2 <= width)).toBe(true)
      }
  })
})

it('mirrors the rows of a stopped run at the axis', () => {
  const { rows } = drawTimeline(parked, { zone })
  const of = (direction: string) => rows.filter((row) => row.direction === direction).map((row) => row.step)
  expect(of('undo')).toEqual(of('forward').toReversed())
  expect(
    rows.every(({ y, height }, index) => y + height <= (rows[index + 1]?.y ?? Number.POSITIVE_INFINITY)),
  ).toBe(true)
})

it('numbers the undo, marks the parked one, and tells what the others wait for', () => {
  const { rows } = drawTimeline(parked, { zone, actions: 250 })
  const label = (id: string) => rows.find((row) => row.id === id)!.label
  expect(label('u:chargeCard')).toContain(
    'Parked for 3 h 13 min, failed 5 times: RefundError: refund window closed (PSP-4410)',
  )
  expect(label('u:chargeCard')).toContain('undo 3 of 4: chargeCard, parked')
  expect(label('u:reserveStock')).toMatch(/^4 reserveStock waits for the undo of chargeCard/)
  expect(label('u:checkFraud')).toContain('nothing to undo: it has no undo')
  expect(label('u:bookCourier')).toContain('nothing to undo: it did not complete')
  expect(label('f:notifyWarehouse')).toContain('late success: to be undone')
  expect(rows.filter(({ actions }) => actions !== undefined).map(({ id }) => id)).toEqual(['u:chargeCard'])
})

it('waits for the drain while a handler still runs', () => {
  const { rows } = drawTimeline(parked, { zone, at: T0 + 38_600 })
  const label = (id: string) => rows.find((row) => row.id === id)!.label
  expect(label('u:packItem')).toContain('waits until notifyWarehouse has ended')
  expect(label('u:notifyWarehouse')).toContain('has not ended yet: it is undone if it completes')
})

it('says how many attempts there were if only the newest is known', () => {
  const newest = parked.steps.map((one) => ({
    ...one,
    known: one.known.filter(
      (attempt) => one.known.findLast(({ direction }) => direction === attempt.direction) === attempt,
    ),
  }))
  const { rows } = drawTimeline({ ...parked, steps: newest }, { zone })
  const label = (id: string) => rows.find((row) => row.id === id)!.label
  expect(label('f:checkFraud')).toContain('the last 2.8 s · 2 attempts')
  expect(label('f:bookCourier')).toContain('gave up after 4 attempts')
  expect(label('u:chargeCard')).toContain('failed 5 times')
})

it('lists the steps without a row, and why', () => {
  expect(drawTimeline(parked, { zone }).notBegun).toEqual([
    { step: 'addPoints', why: 'skipped: its condition was not met' },
    ...['sendTracking', 'shipped', 'askForReview'].map((one) => ({
      step: one,
      why: 'cancelled before it began',
    })),
  ])
  expect(drawTimeline(mapped, { zone }).notBegun.map(({ step: one }) => one)).toEqual([
    'buildIndex',
    'publish',
    'tellSearch',
  ])
})

it('shows what an undo would cover, and folds a day of waiting', () => {
  const { shapes } = drawTimeline(approval, { zone, preview: true })
  const text = shapes.map(seen).join(' ')
  expect(text).toContain('undo ↓, if it stopped now')
  expect(text).toContain('reserveBudget would be undone')
  expect(text).toContain('⋯ 1 d 2 h')
  expect(drawTimeline(approval, { zone, fold: false }).scale.segments.length).toBe(1)
})

it('links a row to what it waits for, and to its twin', () => {
  const timeline = drawTimeline(undone, { zone })
  const row = (id: string) => timeline.rows.find((one) => one.id === id)!
  expect(links(undone, row('f:chargeCard'))).toEqual({
    waitsFor: ['f:reserveStock', 'f:checkFraud'],
    twin: 'u:chargeCard',
  })
  expect(links(undone, row('u:chargeCard'))).toEqual({
    waitsFor: ['u:addPoints', 'u:packItem'],
    twin: 'f:chargeCard',
  })
  expect(
    drawLinks(planTimeline(undone, { zone }), 'f:chargeCard')?.children.filter(
      (one) => typeof one !== 'string' && one.tag === 'path',
    ).length,
  ).toBe(2)
})

it('draws only the nodes and edges in the view, and names the neighbours of all', () => {
  const graph = drawGraph(parked, { view: { x: 0, y: 0, width: 240, height: 400 } })
  expect(flat(graph.shapes).filter(({ attributes }) => attributes['role'] === 'treeitem').length).toBe(3)
  const node = graph.nodes.find((one) => one.step === 'packItem')!
  expect([node.predecessors, node.successors]).toEqual([['chargeCard'], ['notifyWarehouse', 'bookCourier']])
  const boxes = flat(drawMinimap(parked).shapes).map(({ attributes }) => String(attributes['d'] ?? ''))
  expect(boxes.join('').match(/M/g)).toHaveLength(parked.steps.length)
})

it('draws only the rows in the view and the one with the tab stop, and the same as in the whole', () => {
  const plan = planTimeline(undone, { zone })
  const whole = drawPlan(plan)
  const last = whole.rows.at(-1)!
  const part = drawPlan(plan, { view: { y: last.y - 1, height: 10_000 }, stop: 'f:chargeCard' })
  const [stop, before, end] = part.rows
  expect([stop?.id, end]).toEqual(['f:chargeCard', last])
  expect(part.rows).toHaveLength(3)
  expect(whole.rows.at(-2)).toEqual(before)
  expect(part.height).toBe(whole.height)
  const stops = flat(part.shapes).filter(({ attributes }) => attributes['tabindex'] === 0)
  expect(stops.map(({ attributes }) => attributes['data-row'])).toEqual(['f:chargeCard'])
})

it('a minimap fits into its box, however long the graph is', () => {
  const chain = Array.from({ length: 500 }, (_, index) => ({
    ...parked.steps[0]!,
    name: `s${index}`,
    dependsOn: index === 0 ? [] : [`s${index - 1}`],
  }))
  const { width, height } = drawMinimap({ ...parked, steps: chain })
  expect([width, height]).toEqual([150, 24])
})

describe('names from a user', () => {
  const texts = [
    drawTimeline(hostile, { zone }),
    drawTimeline(hostile, { zone, width: 380 }),
    drawGraph(hostile),
    drawMinimap(hostile),
  ].map((drawing) => svgText(drawing, { style: fileStyle, label: hostile.workflow }))

  it('end no element and no attribute, and hold nothing that XML forbids', () => {
    for (const text of texts) {
      expect(text).not.toContain('<script')
      expect(text.match(/<\/svg>/g)).toHaveLength(1)
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cs}|[\ufffe\uffff\u202a-\u202e]/u)
    }
  })

  it('are cut with an ellipsis, and whole in a title', () => {
    const titles = flat(drawGraph(hostile).shapes)
      .filter(({ tag }) => tag === 'title')
      .map(({ children }) => children.join(''))
    expect(titles.some((title) => title.length === 300)).toBe(true)
    expect(texts[0]).toContain('…')
  })

  it('do not turn the direction of what stands beside them', () => {
    expect(texts[0]).toContain('\u2068תשלום')
    expect(texts[0]!.split('\u2068').length).toBe(texts[0]!.split('\u2069').length)
  })
})

it('has no inline style and no handler', () => {
  for (const run of [...Object.values(all), hostile])
    for (const { attributes } of flat([...drawTimeline(run).shapes, ...drawGraph(run).shapes]))
      expect(Object.keys(attributes).filter((name) => name === 'style' || name.startsWith('on'))).toEqual([])
})

it('draws a run without steps, and one before it has begun', () => {
  const empty = { ...approval, steps: [] }
  expect(drawTimeline(empty).rows).toEqual([])
  expect(drawGraph(empty).nodes).toEqual([])
  const pending = {
    ...approval,
    status: 'scheduled',
    startAt: T0 + 9e6,
    readAt: T0,
    steps: [step('a', [], 'pending')],
  } as const
  expect(drawTimeline(pending).notBegun).toEqual([{ step: 'a', why: 'not begun' }])
})

function flat(shapes: readonly (Shape | string)[]): readonly Shape[] {
  return shapes.flatMap((one) => (typeof one === 'string' ? [] : [one, ...flat(one.children)]))
}

function seen({ tag, children }: Shape): string {
  if (tag === 'title') return ''
  return children.map((child) => (typeof child === 'string' ? child : seen(child))).join('')
}

function rowsAndNodes(run: ViewRun): readonly Shape[] {
  const drawn = [
    ...drawTimeline(run, { zone }).shapes,
    ...drawTimeline(run, { zone, width: 380 }).shapes,
    ...drawGraph(run).shapes,
  ]
  return flat(drawn).filter(({ attributes }) => attributes['aria-label'] !== undefined)
}
