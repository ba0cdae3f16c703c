import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../src/exact-json.ts'

describe('JSON that a person typed', () => {
  it.each([
    ['12345678901234567890', 'the number 12345678901234567890: it would become 12345678901234567000.'],
    ['9007199254740993', 'it would become 9007199254740992.'],
    ['1e400', 'it would become null.'],
    ['-1e400', 'it would become null.'],
    ['1e-400', 'it would become 0.'],
    ['0.1000000000000000055', 'it would become 0.1.'],
    ['{"order":{"lines":[1,{"id":9007199254740993}]}}', '9007199254740993 at $.order.lines[1].id:'],
    ['[[1,2],"a, 1e400",{"a b":[0,1e999]}]', '1e999 at $[2]["a b"][1]:'],
    ['{"a\\"b" : 1, "c":{}, "d": -9007199254740993}', '-9007199254740993 at $.d:'],
  ])('%s is refused with its path', (text, says) => {
    expect(() => parseExactJson(text)).toThrow(RangeError)
    expect(() => parseExactJson(text)).toThrow(says)
  })

  it.each([
    '0',
    '-0',
    '0.0',
    '1.50',
    '1e2',
    '100e-2',
    '1E+21',
    '1e23',
    '0.1',
    '5e-324',
    '9007199254740992',
    '12300',
  ])('the number %s passes in its notation', (text) => {
    expect(parseExactJson(`[${text}]`)).toEqual([Number(text)])
  })

  it('whatever JSON prints is read as it is', () => {
    fc.assert(
      fc.property(fc.json(), fc.double({ noNaN: true, noDefaultInfinity: true }), (json, number) => {
        const text = `{"a":${json},"b":[${JSON.stringify(number)}]}`
        expect(parseExactJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('what is no JSON is refused as JSON.parse() refuses it', () => {
    expect(() => parseExactJson('{')).toThrow(SyntaxError)
    expect(() => parseExactJson('01')).toThrow(SyntaxError)
  })

  it('a number of a million digits is refused at once', () => {
    const before = performance.now()
    expect(() => parseExactJson(`1${'0'.repeat(1_000_000)}1`)).toThrow(
      /^JSON cannot keep the number 10{59}…: /,
    )
    expect(() => parseExactJson(`1e${'9'.repeat(100_000)}`)).toThrow(RangeError)
    expect(performance.now() - before).toBeLessThan(5_000)
  })
})
