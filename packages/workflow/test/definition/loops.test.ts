import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'

const base = define('w', { version: 1 }) as unknown as {
  repeat(name: string, options: unknown): ReturnType<typeof define>
}
const run = () => 1
const until = () => true

describe('the options of a loop', () => {
  it.each([
    [{ run }, /step "a": until is undefined, and must be a function that returns true for the last round/],
    [{ run, until: 3 }, /until is 3, and must be a function/],
    [{ until }, /run is undefined, and must be a function/],
    [{ run, until, first: 1 }, /first is 1, and must be a function/],
    [{ run, until, max: 0 }, /max is 0, and must be a whole number from 1 to 65536/],
    [{ run, until, max: 65_537 }, /max is 65537/],
    [{ run, until, delay: 'soon' }, /delay is "soon"/],
    [{ run, until, every: '1m' }, /the loop has no option "every"/],
    [{ run, until, compensateOn: 'started' }, /there is no compensate/],
  ])('%j are refused', (options, message) => {
    expect(() => base.repeat('a', options)).toThrow(message)
  })

  it('make two steps: one begins the loop, the other has its name', () => {
    const { steps } = define('w', { version: 1 }).repeat('a', { run, until, compensate: run }).record.shape

    expect(steps).toEqual([
      { name: 'a[]', dependsOn: [], compensate: 'completed', kind: 'repeat' },
      { name: 'a', dependsOn: [0], compensate: 'never', kind: 'join' },
    ])
  })

  it('are the same as data', () => {
    const data = defineGraph(
      'w',
      {
        steps: {
          a: { repeat: 'turn', until: 'isLast', first: 'begin', roundsMax: 5, delay: '1s', max: '9s' },
        },
        dag: {},
      },
      { turn: run, isLast: until, begin: run },
    )
    const code = define('w', { version: 1 }).repeat('a', {
      first: run,
      run,
      until,
      max: 5,
      delay: '1s',
      retry: { max: '9s' },
    })

    expect(data.record).toEqual(code.record)
    expect(data.steps).toEqual(code.steps)
  })

  it('as data need the handlers that they name', () => {
    const graph = { steps: { a: { repeat: 'turn', until: 'isLost' } }, dag: {} }

    expect(() => defineGraph('w', graph, { turn: run, isLast: until } as never)).toThrow(
      /until is "isLost", and must be the name of a handler\. Did you mean "isLast"\?/,
    )
    expect(defineGraph('w', graph).runnable).toBe(false)
  })
})
