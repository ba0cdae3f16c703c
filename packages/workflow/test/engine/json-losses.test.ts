import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { jsonFateOf, jsonLossIn } from '../../src/engine/base/json-losses.ts'
import { toJsonText } from '../../src/engine/base/payload.ts'
import type { LogFields, Logger } from '../../src/logger.ts'

class Empty {}
class Point {
  readonly x = 1
  length(): number {
    return this.x
  }
}
/** As code of before classes makes them: with members that JSON does not see. */
function Money(this: { cents: number }, cents: number): void {
  this.cents = cents
}
Money.prototype.add = () => {}
Money.prototype.zero = -0
Money.prototype.unit = { of: Money.prototype }
const cycle: Record<string, unknown> = { a: { b: [] as unknown[] } }
;(cycle['a'] as { b: unknown[] }).b.push(cycle['a'])
const shared = { n: 1 }
const no = () => {
  throw new Error('not readable')
}

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

function reading(value: unknown) {
  const warnings: string[] = []
  const warn = (message: string, _: LogFields) => warnings.push(message)
  const log = { debug: warn, info: warn, warn, error: warn } as unknown as Logger
  const store = () => toJsonText(value, 1_000_000, () => ({ what: 'Output of step "a"', log }))
  return { warnings, store }
}

describe('what JSON would lose is refused, with its path', () => {
  it.each([
    ['a function', () => 1, 'it is a function, of which JSON keeps nothing'],
    ['a nested function', { items: [{}, { price: () => 1 }] }, 'a function at $.items[1].price'],
    ['a class', { made: Point }, 'a function at $.made'],
    ['a method of its own', { toString: () => 'x' }, 'a function at $.toString'],
    ['a symbol', { 'a b': Symbol('x') }, 'a symbol at $["a b"]'],
    ['a symbol in an array', [1, Symbol('x')], 'a symbol at $[1]'],
    ['a function in an array', [[no]], 'a function at $[0][0]'],
    ['a bigint', 1n, 'it is a bigint'],
    ['a nested bigint', { items: [0, 1, 2, { price: 1n }] }, 'a bigint at $.items[3].price'],
    ['a cycle', cycle, 'the object at $.a again, a cycle, at $.a.b[0]'],
    ['a Map', { by: new Map([[1, 2]]) }, 'an instance of Map at $.by, of which JSON keeps only {}'],
    ['a Set', new Set([1]), 'it is an instance of Set'],
    ['an Error', [new TypeError('x')], 'an instance of TypeError at $[0]'],
    ['an Error with members', Object.assign(new Error('x'), { code: 'E' }), 'an instance of Error'],
    ['a promise', { later: Promise.resolve(1) }, 'an instance of Promise at $.later'],
    ['a RegExp', { match: /x/ }, 'an instance of RegExp at $.match'],
    ['an instance without members', { made: new Empty() }, 'an instance of Empty at $.made'],
    [
      'a typed array',
      { bytes: new Uint8Array(2) },
      'an instance of Uint8Array at $.bytes, of which JSON keeps an object with its indexes as names',
    ],
    [
      'an error of another realm',
      [runInNewContext("Object.assign(new Error('m'), { code: 1 })")],
      'an instance of Error at $[0]',
    ],
    ['a Map of another realm', { by: runInNewContext('new Map([[1, 2]])') }, 'an instance of Map at $.by'],
    ['a function after a change', { n: Number.NaN, f: no }, 'a function at $.f'],
    ['a function in an instance', Object.assign(new Point(), { f: no }), 'a function at $.f'],
    ['a function below what the stack holds', { deep: deep(900), f: no }, 'a function at $.f'],
  ])('%s', (_, value, reason) => {
    const { store, warnings } = reading(value)

    expect(store).toThrow(expect.objectContaining({ code: 'payload_unserialisable' }))
    expect(store).toThrow(reason)
    expect(warnings).toEqual([])
  })
})

describe('in a list that is longer than a call may have arguments', () => {
  const LENGTH = 130_000

  it.each([
    ['a Map', new Map([[1, 2]]), 'an instance of Map'],
    ['a function', () => 1, 'a function'],
    ['a text that cannot be stored', 'a\0b', 'the character U+0000'],
  ])('%s is refused, with its path', (_, lost, what) => {
    const list: unknown[] = Array.from({ length: LENGTH }, (__, index) => index)
    list.push(lost)
    const store = () => toJsonText({ list }, 1e9, () => ({ what: 'Output of step "a"' }))

    expect(store).toThrow(`it holds ${what} at $.list[${LENGTH}]`)
  })

  it('a loss too far inside to be named is refused all the same', () => {
    const list: unknown[] = Array.from({ length: 500_000 }, () => 0)
    list.push(new Set())
    const store = () => toJsonText(list, 1e9, () => ({ what: 'Output of step "a"' }))

    expect(store).toThrow(expect.objectContaining({ code: 'payload_unserialisable' }))
  })
})

describe('what JSON changes is stored, with one warning', () => {
  it.each([
    [
      'NaN',
      { list: [1, Number.NaN] },
      '{"list":[1,null]}',
      'holds NaN at $.list[1], which has no form in JSON: it was stored as null',
    ],
    ['Infinity', Number.NEGATIVE_INFINITY, 'null', 'is -Infinity, which'],
    [
      '-0',
      { a: { n: -0 } },
      '{"a":{"n":0}}',
      'holds -0 at $.a.n, which has no form in JSON: it was stored as 0',
    ],
    ['-0 in an array', [0, 1, -0], '[0,1,0]', 'holds -0 at $[2]'],
    ['undefined in an array', [1, undefined], '[1,null]', 'holds undefined at $[1]'],
    // biome-ignore lint/suspicious/noSparseArray: a hole is stored like undefined
    ['a hole in an array', [1, , 2], '[1,null,2]', 'holds undefined at $[1]'],
  ])('%s', (_, value, text, warning) => {
    const { store, warnings } = reading(value)

    expect([store(), store()]).toEqual([text, text])

    expect(warnings).toEqual([expect.stringContaining(`Output of step "a" ${warning}`)])
  })
})

describe('what JSON keeps is stored without a word', () => {
  it.each([
    ['plain data', { a: [1, 'x', true, null, { b: {} }], c: [] }, '{"a":[1,"x",true,null,{"b":{}}],"c":[]}'],
    ['a property that is undefined', { a: undefined, b: 1 }, '{"b":1}'],
    ['a Date, as its text', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['what toJSON() gives', { toJSON: () => ({ x: 1 }) }, '{"x":1}'],
    ['an instance with members', new Point(), '{"x":1}'],
    ['an instance with inherited members', [Reflect.construct(Money, [5])], '[{"cents":5}]'],
    ['plain data of another realm', runInNewContext('({ a: [{ b: 1 }] })'), '{"a":[{"b":1}]}'],
    ['a Buffer, as its toJSON() gives it', Buffer.from('a'), '{"type":"Buffer","data":[97]}'],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ['an object twice, not within itself', [shared, { shared }], '[{"n":1},{"shared":{"n":1}}]'],
    ['boxed values', [new Number(1), new String('x')], '[1,"x"]'],
    ['a proxy of plain data', new Proxy({ a: 1 }, {}), '{"a":1}'],
  ])('%s', (_, value, text) => {
    const { store, warnings } = reading(value)

    expect(store()).toBe(text)
    expect(jsonFateOf(value) === 'kept' || jsonLossIn(value) === undefined).toBe(true)
    expect(warnings).toEqual([])
  })
})

describe('hostile values', () => {
  it.each([
    ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: no })],
    ['toJSON() that throws', { a: { toJSON: no } }],
    ['a proxy that throws', { a: new Proxy({}, { ownKeys: no, getPrototypeOf: no, get: no }) }],
    ['toJSON() that gives nothing', { toJSON: () => undefined }],
  ])('%s: the payload is refused, and nothing else is thrown', (_, value) => {
    expect(reading(value).store).toThrow(expect.objectContaining({ code: 'payload_unserialisable' }))
  })

  it('a value that throws when it is read again is stored', () => {
    let reads = 0
    const once = Object.defineProperty({}, 'a', { enumerable: true, get: () => (reads++ === 0 ? 1 : no()) })

    expect(reading(once).store()).toBe('{"a":1}')
  })

  it('an object that always has another member ends the search', () => {
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ['a'],
          get: (_, key) => (key === 'a' ? endless() : undefined),
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
        },
      )

    expect(reading(endless()).store).toThrow(expect.objectContaining({ code: 'payload_unserialisable' }))
  })
})
