import { describe, expect, it } from 'vitest'
import { inputHash } from '../../src/engine/start/input-hash.ts'

const circular: Record<string, unknown> = {}
circular['self'] = circular

describe('the hash of an input', () => {
  it.each([
    ['the order of keys', { a: 1, b: { c: [2], d: 3 } }, { b: { d: 3, c: [2] }, a: 1 }],
    ['members without a value', { a: 1, b: undefined }, { a: 1 }],
    ['a date and its text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['zero and negative zero', [0], [-0]],
  ])('is the same for %s', (_, one, other) => {
    expect(inputHash(one)).toMatch(/^[0-9a-f]{64}$/)
    expect(inputHash(one)).toBe(inputHash(other))
  })

  it('differs for all other inputs, also those without a JSON form', () => {
    const inputs = [
      ...[
        undefined,
        null,
        0,
        1,
        '',
        '1',
        'k\ud800',
        'k\ufffd',
        true,
        1n,
        Number.NaN,
        Number.POSITIVE_INFINITY,
      ],
      ...[
        [],
        [null],
        [[]],
        {},
        { a: null },
        { a: {} },
        { 'a":1,"b': 2 },
        { a: 1, b: 2 },
        ['a', 'b'],
        ['a,b'],
      ],
      ...[new Map(), new Map([[1, 2]]), new Map([[1, 3]]), new Set(), new Set([1])],
    ]
    const hashes = inputs.map(inputHash)

    expect(new Set(hashes).size).toBe(inputs.length)
    expect(hashes).not.toContain(null)
  })

  it('is null if the content cannot be read', () => {
    expect([circular, new (class {})(), Symbol.iterator, new WeakMap()].map(inputHash)).toEqual([
      null,
      null,
      inputHash(undefined),
      null,
    ])
  })
})
