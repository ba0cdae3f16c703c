import { describe, expect, it } from 'vitest'
import {
  checkFilter,
  checkOptions,
  duration,
  instant,
  key,
  type OptionTable,
  oneOrSomeOf,
  someOf,
  wholeNumber,
} from '../../src/options/index.ts'

const TABLE = {
  limit: { sets: 'how many are read at most', takes: wholeNumber(1, 10), default: 5 },
  timeout: { sets: 'how long it may take', takes: duration('10ms', '1m'), required: true },
  key: { sets: 'whose it is', takes: key, narrows: true },
} satisfies OptionTable

const check = (given: unknown) => checkOptions('read()', given, TABLE)

describe('options', () => {
  it('are read as the engine uses them, with their defaults', () => {
    expect(check({ timeout: '2s' })).toEqual({ limit: 5, timeout: 2_000 })
    expect(check({ timeout: 30, limit: undefined, key: 'k' })).toEqual({ limit: 5, timeout: 30, key: 'k' })
  })

  it.each([
    [null, 'read(): the options must be an object with limit, timeout, key; got null.'],
    [new Map(), 'read(): the options must be an object with limit, timeout, key; got a Map.'],
    [{ timeuot: 1 }, 'read() has no option "timeuot". Did you mean "timeout"? It takes limit, timeout, key.'],
    [
      {},
      "read(): timeout must be given: a duration from 10ms to 1m, like '30s' or 30000. It sets how long it may take.",
    ],
    [
      { timeout: '1s', limit: 11 },
      'read(): limit must be a whole number from 1 to 10; got 11. It sets how many are read at most.',
    ],
    [{ timeout: '1s', key: 'a\0' }, 'got a string with NUL in it.'],
    [{ timeout: '1s', key: 'k\ud800' }, 'got a string with an unpaired surrogate.'],
  ])('%j are refused with what, where and the remedy', (given, message) => {
    expect(() => check(given)).toThrow(message)
  })

  it('that throw when they are read are refused like any other', () => {
    const trap = Object.defineProperty({}, 'timeout', {
      enumerable: true,
      get() {
        throw new Error('trap')
      },
    })
    expect(() => check(trap)).toThrow('read(): the options must be an object')
  })

  it('that hold a password are not shown', () => {
    const given = { timeout: 'postgres://user:secret@host/db' }
    expect(() => check(given)).toThrow('got a URL with credentials')
  })

  it('are each read once, so that the checked value is the used one', () => {
    let looks = 0
    const given = {
      get timeout() {
        looks += 1
        return looks === 1 ? '1s' : 'nonsense'
      },
    }
    expect(check(given).timeout).toBe(1_000)
  })
})

describe('a filter', () => {
  it('refuses undefined where a value would narrow it, and nowhere else', () => {
    const filter = (given: unknown) => checkFilter('read()', given, TABLE)

    expect(() => filter({ timeout: '1s', key: undefined })).toThrow(
      'read(): key is undefined, and would match everything. Give it a value, or leave the name out.',
    )
    expect(filter({ timeout: '1s', limit: undefined }).limit).toBe(5)
  })
})

describe('a kind of value', () => {
  it.each([
    ['2026-02-30', false],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-04-31T10:00:00Z', false],
    ['2026-03-01T09:00:00+01:00', true],
    [new Date(-8.64e15), false],
    [new Date('0001-01-01'), true],
    [new Date('9999-12-31'), true],
  ])('accepts %s as an instant: %s', (given, isTaken) => {
    const read = () => checkOptions('at()', { at: given }, { at: { sets: 'when', takes: instant } })
    if (isTaken) expect(read().at).toBe(new Date(given).getTime())
    else expect(read).toThrow('at(): at must be an instant from year 1 to 9999')
  })

  it('reads one choice and several as a list without repetitions', () => {
    expect(someOf(['a', 'b']).read(['b', 'a', 'b'])).toEqual(['b', 'a'])
    expect(oneOrSomeOf(['a', 'b']).read('b')).toEqual(['b'])
  })
})
