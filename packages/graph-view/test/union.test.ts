import { describe, expect, test } from 'vitest'
import {
  compareRuns,
  drawPair,
  drawUnion,
  type GraphStep,
  layoutGraph,
  partingText,
  svgText,
  unite,
  type ViewRun,
} from '../src/index.ts'
import { randomGraph } from './random.ts'
import { approval, completed, hostile, mapped, parked, undone } from './runs.ts'

const step = (name: string, dependsOn: readonly string[] = [], more: Partial<GraphStep> = {}): GraphStep => ({
  ...{ name, dependsOn, kind: 'work', compensate: 'never', pivot: false, irreversible: false },
  ...more,
})
const asSteps = (seed: number, size: number) =>
  randomGraph(seed, size).map(({ name, dependsOn }) => step(name, dependsOn))

describe('two graphs united', () => {
  test('tell what only one has, and what differs in both', () => {
    const before = [
      step('charge'),
      step('pack', ['charge']),
      step('ship', ['pack'], { compensate: 'completed' }),
    ]
    const after = [
      step('charge', [], { kind: 'poll', pivot: true }),
      step('inspect', ['charge']),
      step('ship', ['inspect'], { irreversible: true }),
    ]
    expect(unite(before, after).map(({ name, dependsOn, changes }) => [name, dependsOn, changes])).toEqual([
      ['charge', [], ['kind', 'pivot']],
      ['inspect', ['charge'], ['added']],
      ['pack', ['charge'], ['removed']],
      ['ship', ['inspect', 'pack'], ['dependencies', 'undo', 'irreversible']],
    ])
  })

  test('of the same graph do not differ, and the order of dependencies does not count', () => {
    const before = [step('a'), step('b'), step('c', ['a', 'b'])]
    const after = [step('b'), step('a'), step('c', ['b', 'a'])]
    expect(unite(before, after).flatMap(({ changes }) => changes)).toEqual([])
    expect(unite([], [])).toEqual([])
    expect(unite([], [step('a')]).map(({ changes }) => changes)).toEqual([['added']])
  })

  test('keep the edges of the second one where both would form a circle', () => {
    const united = unite([step('a'), step('b', ['a'])], [step('b'), step('a', ['b'])])
    expect(united.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ['b', []],
      ['a', ['b']],
    ])
    const through = unite(
      [step('y'), step('gone', ['y']), step('x', ['gone'])],
      [step('x'), step('y', ['x'])],
    )
    expect(through.map(({ name }) => name)).toEqual(['x', 'y', 'gone'])
  })

  test('have each step once, after all that it depends on in the second one, for 200 random pairs', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const [before, after] = [asSteps(seed, 30), asSteps(seed + 1_000, 24)]
      const united = unite(before, after)
      const place = new Map(united.map(({ name }, index) => [name, index]))
      expect(place.size, `seed ${seed}`).toBe(united.length)
      expect(new Set(place.keys())).toEqual(new Set([...before, ...after].map(({ name }) => name)))
      const isAfter = ({ name, dependsOn }: GraphStep) =>
        dependsOn.every((other) => place.get(other)! < place.get(name)!)
      expect(after.every(isAfter), `seed ${seed}`).toBe(true)
      for (const one of united) {
        expect(one.dependsOn.every((other) => place.get(other)! < place.get(one.name)!)).toBe(true)
        for (const other of one.after?.dependsOn ?? []) expect(one.dependsOn).toContain(other)
      }
      expect(layoutGraph(united).nodes.length).toBe(united.length)
    }
  })

  test('are drawn with a mark, a word and an edge of their own, and hostile names stay text', () => {
    const evil = '<img src=x onerror=alert(1)>'
    const steps = unite([step('a'), step(evil, ['a'])], [step('a'), step('c', ['a'])])
    const drawing = drawUnion(steps, ({ changes: [change] }) => ({
      mark: change === undefined ? undefined : change === 'added' ? 'added' : 'removed',
      lines: [{ text: change ?? 'same' }],
    }))
    expect(drawing.nodes.map(({ step: name, label }) => [name, label])).toEqual([
      ['a', 'a same'],
      ['c', 'c added'],
      [evil, expect.stringMatching(/^<img src=x.* removed$/)],
    ])
    const text = svgText(drawing, { label: 'both' })
    expect(text).not.toContain('<img')
    expect(text).toContain('class="edge taken added"')
    expect(text).toContain('class="node ghost"')
  })
})

describe('two runs', () => {
  test('of which one was undone part at the first step that differs', () => {
    const steps = compareRuns(completed, undone)
    const first = steps.find(({ a, b }) => a!.state.forward !== b!.state.forward)!
    expect(partingText(steps)).toMatch(new RegExp(`^They part at ${first.name}: A .*, B .*\\.$`))
    expect(partingText(steps)).toMatchInlineSnapshot(
      `"They part at bookCourier: A completed it after 2 attempts, B failed at it after 4 attempts."`,
    )
    expect(partingText(compareRuns(undone, parked))).toMatchInlineSnapshot(
      `"They part at chargeCard: A completed it at the first attempt and undid it after 2 attempts, B completed it at the first attempt and parked its undo after 5 attempts."`,
    )
    expect(partingText(compareRuns(approval, completed))).toMatchInlineSnapshot(
      `"They part at reserveStock: A does not have it, B completed it at the first attempt."`,
    )
  })

  test('part at the step that failed first, however many others differ before it', () => {
    const at = (name: string, status: 'completed' | 'failed', endAt: number, attempts = 1) => ({
      ...step(name),
      ...{ status, attempts, round: 1, failures: 0, losses: 0, kept: false },
      known: [
        { direction: 'forward' as const, round: 1, attempt: attempts, startAt: 0, endAt, ended: status },
      ],
    })
    const run = (steps: ViewRun['steps']): ViewRun => ({
      ...{ id: 'r', workflow: 'w', version: 1, status: 'failed', createdAt: 0, readAt: 99, rounds: 1, steps },
    })
    const good = run([at('a', 'completed', 1), at('b', 'completed', 2), at('c', 'completed', 3)])
    const bad = run([at('a', 'completed', 9, 3), at('b', 'failed', 8), at('c', 'failed', 5)])
    expect(partingText(compareRuns(good, bad))).toBe(
      'They part at c: A completed it at the first attempt, B failed at it at the first attempt.',
    )
  })

  test('that are the same do not part', () => {
    for (const run of [completed, undone, parked, mapped, approval]) {
      expect(partingText(compareRuns(run, run))).toMatch(/^They do not part/)
    }
  })

  test('differ in a branch if only one skipped the step, and in presence if only one has it', () => {
    const [name] = completed.steps.map((one) => one.name)
    const skipped = {
      ...completed,
      steps: completed.steps.map((one) =>
        one.name === name ? { ...one, status: 'skipped' as const, known: [], skipped: 'by its case' } : one,
      ),
    }
    expect(compareRuns(completed, skipped)[0]).toMatchObject({ differs: ['branch'] })
    expect(partingText(compareRuns(completed, skipped))).toContain('B skipped it (by its case).')
    const without = { ...completed, steps: completed.steps.slice(1) }
    expect(partingText(compareRuns(completed, without))).toContain('B does not have it.')
  })

  test.each([
    ['wide', 1_100],
    ['narrow', 340],
  ])('are drawn from the begin of each, within the drawing: %s', (_, width) => {
    const later = 5_000_000
    const moved = { ...undone, createdAt: undone.createdAt, readAt: undone.readAt + later }
    for (const b of [undone, moved, parked, hostile, mapped, approval]) {
      const drawing = drawPair(compareRuns(completed, b), { a: completed, b }, { width })
      const text = svgText(drawing, { label: 'both' })
      expect(text).not.toMatch(/NaN|Infinity|undefined/)
      const bars = [
        ...text.matchAll(/<rect class="(?:bar|attempt) [^>]* x="([\d.-]+)"[^>]* width="([\d.]+)"/g),
      ]
      expect(bars.length).toBeGreaterThan(2)
      for (const [, x, wide] of bars) expect(Number(x) + Number(wide)).toBeLessThanOrEqual(width)
    }
  })
})
