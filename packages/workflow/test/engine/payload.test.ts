import { describe, expect, it } from 'vitest'
import { fromJsonText, serialiseError, toJsonText } from '../../src/engine/payload.ts'
import { BelayError } from '../../src/errors.ts'

const owner = () => ({ what: 'Output of step "a"', runId: 'r', step: 'a' })

describe('payloads', () => {
  it.each([0, -0.5, false, '', null, [], {}, 'é\u0000\ud800', { a: [1, { b: null }] }])(
    '%j survives',
    (value) => {
      expect(fromJsonText(toJsonText(value, 1_000, owner))).toEqual(value)
    },
  )

  it('no value stays no value, apart from the JSON value null', () => {
    expect(toJsonText(undefined, 1_000, owner)).toBe(null)
    expect(toJsonText(null, 1_000, owner)).toBe('null')
  })

  it('counts bytes, not characters', () => {
    expect(toJsonText('é'.repeat(4), 10, owner)).toBe('"éééé"')
    expect(() => toJsonText('é'.repeat(5), 10, owner)).toThrow(/is 12 bytes as JSON; the limit is 10/)
  })
})

describe('errors as they are stored', () => {
  it('keep name, message, code and causes, and drop the stack', () => {
    const error = new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'E1' }) })

    expect(serialiseError(error)).toEqual({
      name: 'TypeError',
      message: 'outer',
      cause: { name: 'Error', message: 'inner', code: 'E1' },
    })
  })

  it('are bounded in length and depth', () => {
    const circular = new Error('x'.repeat(10_000))
    circular.cause = circular

    const text = JSON.stringify(serialiseError(circular))

    expect(text.length).toBeLessThan(25_000)
  })

  it.each([
    ['a text', 'no'],
    ['nothing', undefined],
    ['an object', { reason: 1 }],
    ['a bigint', 1n],
    [
      'a hostile object',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
    [
      'a hostile error',
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error('no')
        },
      }),
    ],
  ])('%s thrown becomes an error too', (_, thrown) => {
    expect(serialiseError(thrown)).toMatchObject({ name: 'Error', message: expect.any(String) })
  })

  it('an error of another copy of the package is recognised', () => {
    const foreign = Object.assign(Object.create({ [Symbol.for('belay.error')]: true }), { code: 'permanent' })

    expect(BelayError.is(foreign)).toBe(true)
    expect(BelayError.is(new Error('no'))).toBe(false)
  })
})
