import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { fromJsonText, toJsonText } from '../../src/engine/base/payload.ts'
import { serialiseError } from '../../src/engine/base/stored-error.ts'
import { BelayError } from '../../src/errors.ts'

const owner = () => ({ what: 'Output of step "a"', runId: 'r', step: 'a' })

describe('payloads', () => {
  it.each([
    0,
    -0.5,
    false,
    '',
    null,
    [],
    {},
    'é 👩‍👩‍👧‍👦 \u0001\u001f\u2028',
    'a path like C:\\u0000 or \\ud800',
    { a: [1, { b: null }] },
  ])('%j survives', (value) => {
    expect(fromJsonText(toJsonText(value, 1_000, owner))).toEqual(value)
  })

  it.each([
    ['U+0000', 'a\0', 'it holds the character U+0000, which'],
    ['U+0000 deep inside', { a: [1, { b: ['\0'] }] }, 'it holds the character U+0000 at $.a[1].b[0], which'],
    ['the first half of a pair', ['\ud83d'], 'it holds half of a surrogate pair at $[0], which'],
    ['the second half of a pair', { x: '\udfffx' }, 'it holds half of a surrogate pair at $.x, which'],
    ['a pair the wrong way round', '\ude00\ud83d', 'it holds half of a surrogate pair, which'],
    ['U+0000 in a name', { 'a\0': 1 }, 'it holds the character U+0000 in the name of a property, which'],
    ['it after a text that looks like it', ['\\u0000', '\0'], 'the character U+0000 at $[1], which'],
  ])('%s is refused, with its path', (_, value, message) => {
    expect(() => toJsonText(value, 1_000, owner)).toThrow(message)
  })

  it('no value stays no value, and differs from the JSON value null', () => {
    expect(toJsonText(undefined, 1_000, owner)).toBe(null)
    expect(toJsonText(null, 1_000, owner)).toBe('null')
  })

  it('counts bytes, not characters', () => {
    expect(toJsonText('é'.repeat(4), 10, owner)).toBe('"éééé"')
    expect(() => toJsonText('é'.repeat(5), 10, owner)).toThrow(/is 12 bytes as JSON; the limit is 10/)
  })
})

describe('errors as they are stored', () => {
  it('keep name, message, code and causes', () => {
    const error = new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'E1' }) })

    expect(serialiseError(error, { stacks: false })).toEqual({
      name: 'TypeError',
      message: 'outer',
      cause: { name: 'Error', message: 'inner', code: 'E1' },
    })
  })

  it('keep the upper frames of each stack, if that is wanted, without name and message', () => {
    const error = new Error('two\n    at once', { cause: new TypeError('inner') })

    const { stack, cause } = serialiseError(error, { stacks: true })

    const frames = String(stack).split('\n')
    expect(frames.length).toBeGreaterThan(1)
    expect(frames.length).toBeLessThanOrEqual(10)
    expect(stack).toContain('payload.test.ts')
    expect(cause?.stack).toContain('payload.test.ts')
    expect(stack).not.toMatch(/Error: two|at once/)
  })

  it('have no stack if what was thrown has none that can be read', () => {
    const odd = Object.defineProperty(new Error('no'), 'stack', { value: 7 })

    expect(serialiseError(odd, { stacks: true })).toEqual({ name: 'Error', message: 'no' })
    expect(serialiseError('text', { stacks: true })).toEqual({ name: 'Error', message: 'text' })
  })

  it('are readable by every query, whatever their text', () => {
    const emoji = '👩'.repeat(5_000)
    const error = Object.assign(new Error(`a\0b\ud800c`, { cause: '\udfff' }), { name: '\0', code: 'E\0' })

    expect(serialiseError(error, { stacks: false })).toEqual({
      name: '␀',
      message: 'a␀b�c',
      code: 'E␀',
      cause: { name: 'Error', message: '�' },
    })
    for (const text of [emoji, `x${emoji}`]) {
      const { message } = serialiseError(new Error(text), { stacks: false })
      expect(JSON.stringify(message)).not.toContain('\\u')
      expect(message.endsWith('👩…')).toBe(true)
    }
  })

  it('keep the inner errors of several, and tell them in the message', () => {
    const refused = (address: string) =>
      Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
    const inner = [refused('::1:5432'), refused('127.0.0.1:5432')]
    // As Node throws it, without a message of its own.
    const error = Object.assign(new AggregateError(inner), { code: 'ECONNREFUSED' })

    const stored = serialiseError(new TypeError('fetch failed', { cause: error }), { stacks: true })

    expect(stored.cause).toMatchObject({
      name: 'AggregateError',
      message: 'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
      code: 'ECONNREFUSED',
      errors: [
        { name: 'Error', message: 'connect ECONNREFUSED ::1:5432', code: 'ECONNREFUSED' },
        { name: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:5432', code: 'ECONNREFUSED' },
      ],
    })
    const [first, second] = stored.cause!.errors!
    expect(first!.stack).toContain('payload.test.ts')
    expect(second).not.toHaveProperty('stack')
  })

  it('tell what every promise was rejected with', async () => {
    const odd = Object.assign(new Error('b'), { name: 'OddError' })
    const rejected = ['a', odd, { code: 7 }, new Error('d')].map((reason) => Promise.reject(reason))
    const error: unknown = await Promise.any(rejected).catch((thrown: unknown) => thrown)

    const { message, errors } = serialiseError(error, { stacks: false })

    expect(message).toBe('All promises were rejected: a; b; {"code":7}; and 1 more')
    expect(errors?.map(({ name }) => name)).toEqual(['Error', 'OddError', 'Error', 'Error'])
  })

  it('leave out the issues of a validation, which are no errors', () => {
    const invalid = Object.assign(new Error('invalid'), { errors: [{ path: ['card'], message: '4111' }] })

    expect(serialiseError(invalid, { stacks: false })).toEqual({ name: 'Error', message: 'invalid' })
  })

  it('are bounded, however many errors hold each other', () => {
    const text = 'x'.repeat(10_000)
    const circular = new AggregateError([], text)
    circular.errors = Array.from({ length: 10 }, () => circular)

    const stored = serialiseError(circular, { stacks: true })

    expect(JSON.stringify(stored).length).toBeLessThan(30_000)
  })

  it.each([
    ['an error of another realm', "new TypeError('m')", { name: 'TypeError', message: 'm' }],
    [
      'one with a code and a cause',
      "Object.assign(new RangeError('m', { cause: new Error('c') }), { code: 'E1' })",
      { name: 'RangeError', message: 'm', code: 'E1', cause: { name: 'Error', message: 'c' } },
    ],
    [
      'an object with name and message',
      "({ name: 'HttpError', message: 'm', code: 503 })",
      { name: 'HttpError', message: 'm', code: '503' },
    ],
    ['a bigint', '12n', { name: 'Error', message: '12' }],
    ['an object with a bigint', '({ id: 12n })', { name: 'Error', message: '{"id":"12"}' }],
    ['a symbol', "Symbol('s')", { name: 'Error', message: 'Symbol(s)' }],
  ])('tell %s', (_, source, stored) => {
    expect(serialiseError(runInNewContext(source), { stacks: false })).toEqual(stored)
  })

  it('tell a DOMException, and the stack of another realm', () => {
    const foreign = serialiseError(runInNewContext("new TypeError('m')"), { stacks: true })

    expect(foreign.stack).toContain('evalmachine')
    expect(serialiseError(new DOMException('too late', 'TimeoutError'), { stacks: false })).toMatchObject({
      name: 'TimeoutError',
      message: 'too late',
    })
  })

  it('are bounded in length and depth', () => {
    const circular = new Error('x'.repeat(10_000))
    circular.cause = circular

    const text = JSON.stringify(serialiseError(circular, { stacks: true }))

    expect(text.length).toBeLessThan(35_000)
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
    expect(serialiseError(thrown, { stacks: true })).toMatchObject({
      name: 'Error',
      message: expect.any(String),
    })
  })

  it('an error of another copy of the package is recognised', () => {
    const foreign = Object.assign(Object.create({ [Symbol.for('belay.error')]: true }), { code: 'permanent' })

    expect(BelayError.is(foreign)).toBe(true)
    expect(BelayError.is(new Error('no'))).toBe(false)
  })
})
