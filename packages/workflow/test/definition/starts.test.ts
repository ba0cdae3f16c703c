import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'
import { diffShapes } from '../../src/graph/shape-diff.ts'

describe('the option start', () => {
  it.each([
    ['no object', 5, 'start is 5, and must be an object with debounce, throttle, batch, max, key'],
    ['nothing to do', {}, 'start has none of them, and must have one of debounce, throttle and batch'],
    ['two ways', { debounce: 1, throttle: 1 }, 'start has debounce and throttle, and must have one of'],
    ['an unknown name', { debounce: 1, kye: 'a' }, 'Did you mean "key"?'],
    [
      'no time',
      { debounce: 0 },
      'start.debounce is 0, and must be a duration greater than 0 and at most 30d',
    ],
    ['a long time', { throttle: '31d' }, 'start.throttle is "31d", and must be a duration greater than 0'],
    [
      'a max below debounce',
      { debounce: '5s', max: '1s' },
      'start.max is "1s", and must be at least start.debounce',
    ],
    ['a max of another way', { throttle: '5s', max: '1s' }, 'start.max is "1s", and only debounce has it'],
    ['a batch that is no object', { batch: 5 }, 'start.batch is 5, and must be an object with max, within'],
    [
      'a batch of none',
      { batch: { max: 0, within: 1 } },
      'start.batch.max is 0, and must be a whole number from 1 to 1000',
    ],
    ['a large batch', { batch: { max: 1_001, within: 1 } }, 'start.batch.max is 1001'],
    ['a batch without an end', { batch: { max: 5 } }, 'start.batch.within is undefined'],
    [
      'a key that is a number',
      { debounce: 1, key: 5 },
      'start.key is 5, and must be a function of { input }',
    ],
    ['a key with NUL', { debounce: 1, key: 'a\0' }, 'start.key is a string with NUL in it'],
  ])('is refused with %s', (_, start, message) => {
    expect(() => define('a', { version: 1, start: start as never })).toThrow(message)
    const graph = { start: start as never, steps: { s: { handler: 'h' } }, dag: {} }
    expect(() => defineGraph('a', graph, { h: () => 1 })).toThrow(message)
  })

  it('is part of the shape as far as it decides what the input is, and stays with end steps', () => {
    const record = (start?: object) =>
      define('a', { version: 1, start: start as never })
        .step('s', { run: () => 1 })
        .finally('after', { run: () => 1 }).record
    const [plain, slow, quick, batch] = [
      record(),
      record({ debounce: '5s' }),
      record({ debounce: '1s', key: 'a' }),
      record({ batch: { max: 5, within: 5 } }),
    ]

    expect(slow.checksum).toBe(quick.checksum)
    expect(new Set([plain, slow, batch].map(({ checksum }) => checksum)).size).toBe(3)
    expect(diffShapes(plain.shape, batch.shape)).toEqual(['~ start: batch, was one run for each call'])
  })

  it('refuses a child that collects its starts', () => {
    const child = define('child', { version: 1, start: { debounce: 1 } }).step('s', { run: () => 1 })
    expect(() => define('parent', { version: 1 }).workflow('c', child as never, {} as never)).toThrow(
      'whose start collects calls',
    )
  })
})
