import { describe, expect, it } from 'vitest'
import { define, defineGraph, toMermaid } from '../../src/index.ts'

const base = define('w', { version: 1 })
const child = define('c', { version: 1 }).step('only', { run: () => 1 })
const until = () => true
const first = () => 1

describe('a loop of children', () => {
  it('is a loop in the shape, whose rounds have children that are undone', () => {
    const { shape } = base.repeat('each', child, { until, onFailure: 'continue' }).record

    expect(shape.steps).toEqual([
      {
        name: 'each[]',
        dependsOn: [],
        kind: 'repeat',
        compensate: 'started',
        children: true,
        onFailure: 'continue',
      },
      { name: 'each', dependsOn: [0], kind: 'join', compensate: 'never', onFailure: 'continue' },
    ])
  })

  it('is written in code and as data, with the same shape', () => {
    const graph = {
      steps: {
        each: {
          workflow: 'c',
          until: 'isLast',
          first: 'begin',
          input: 'page',
          roundsMax: 5,
          delay: '1s',
          attempts: 2,
          compensate: false,
        },
      },
      dag: {},
    } as const
    const data = defineGraph('w', graph, { isLast: until, begin: first, page: first })

    const inCode = base.repeat('each', 'c', {
      ...{ until, first, input: first, max: 5, delay: '1s', retry: { attempts: 2 }, compensate: false },
    })
    expect(data.record).toEqual(inCode.record)
    expect(data.steps).toEqual(inCode.steps)
    expect(data.runnable).toBe(true)
    expect(defineGraph('w', graph).runnable).toBe(false)
  })

  it('is another shape than a loop of handlers, and than one whose children are not undone', () => {
    const checksums = [
      base.repeat('each', child, { until }),
      base.repeat('each', child, { until, detached: true }),
      base.repeat('each', { run: first, until, compensate: first, compensateOn: 'started' }),
    ].map(({ record }) => record.checksum)

    expect(new Set(checksums).size).toBe(3)
  })

  it('is drawn as a loop', () => {
    expect(toMermaid(base.repeat('each', child, { until }))).toContain('↻ each')
  })

  it.each([
    [{}, /step "each": until is undefined, and must be a function that returns true for the last round/],
    [{ until, max: 0 }, /max is 0, and must be a whole number from 1 to 65536/],
    [{ until, delay: 'soon' }, /delay is "soon"/],
    [
      { until, key: 'k' },
      /key is "k", and each round's child needs a key of its own: give a function of the round/,
    ],
    [{ until, input: 3 }, /input is 3, and must be a function/],
    [{ until, over: first }, /the loop has no option "over"/],
    [{ until, run: first }, /run is given, and each round of this loop runs a child instead of a handler/],
    [{ until, timeout: '1s' }, /Give timeout to the steps of the child, or remove the child\./],
    [{ until, compensateOn: 'started' }, /compensateOn is given/],
    [{ until, compensate: first }, /compensate is a function/],
    [{ until, onFailure: 'collect' }, /onFailure/],
  ])('refuses %j', (options, message) => {
    expect(() => base.repeat('each', child, options as never)).toThrow(message)
  })

  it.each([[3], [null], [{ name: 'c' }]])('refuses %j as a child', (given) => {
    expect(() => base.repeat('each', given as never, { until } as never)).toThrow(
      /its child is .+, and must be a definition made by define\(\) or defineGraph\(\), or the name of a workflow/,
    )
  })

  it('as data refuses an option of another kind of step', () => {
    const graph = (step: object) => () => defineGraph('w', { steps: { each: step }, dag: {} } as never)

    expect(graph({ workflow: 'c', until: 'isLast', over: 'list' })).toThrow('the fan has no option "until"')
    expect(graph({ workflow: 'c', until: 'isLast', timeout: '1s' })).toThrow(
      'the loop has no option "timeout"',
    )
    expect(graph({ workflow: 'c', until: 'isLast', repeat: 'turn' })).toThrow(
      'the loop has no option "repeat"',
    )
  })
})

describe('a loop of handlers', () => {
  it('has heartbeatTimeout and irreversible for each round, in code and as data', () => {
    const inCode = base.repeat('each', { run: first, until, heartbeatTimeout: '1m', irreversible: true })
    const step = { repeat: 'turn', until: 'isLast', heartbeatTimeout: '1m', irreversible: true } as const
    const data = defineGraph('w', { steps: { each: step }, dag: {} }, { turn: first, isLast: until })

    expect(data.record).toEqual(inCode.record)
    expect(data.steps).toEqual(inCode.steps)
    expect(inCode.record.shape.steps[0]).toMatchObject({ irreversible: true })
  })
})
